/* SPDX-License-Identifier: Apache-2.0 */
/* containers.h - the standard containers over an Allocator, and two of marl's
 * own: a vector that begins inside itself, and a list.
 */
#ifndef marl_containers_h
#define marl_containers_h

#include "debug.h"
#include "memory.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace marl
{
namespace containers
{

template <typename T> using deque = std::deque<T, StlAllocator<T>>;

template <typename K, typename V, typename C = std::less<K>>
using map = std::map<K, V, C, StlAllocator<std::pair<const K, V>>>;

template <typename K, typename C = std::less<K>>
using set = std::set<K, C, StlAllocator<K>>;

template <typename K, typename V, typename H = std::hash<K>,
	  typename E = std::equal_to<K>>
using unordered_map =
	std::unordered_map<K, V, H, E, StlAllocator<std::pair<const K, V>>>;

template <typename K, typename H = std::hash<K>, typename E = std::equal_to<K>>
using unordered_set = std::unordered_set<K, H, E, StlAllocator<K>>;

/* Remove the first element of a queue that has one, and return it. */
template <typename T> inline T take(deque<T> &queue)
{
	T first = std::move(queue.front());

	queue.pop_front();
	return first;
}

/* Remove any element of a set that has one, and return it. */
template <typename T, typename H, typename E>
inline T take(unordered_set<T, H, E> &set)
{
	auto it = set.begin();
	T    any = *it;

	set.erase(it);
	return any;
}

/* A vector whose first BASE_CAPACITY elements need no allocation. */
template <typename T, int BASE_CAPACITY> class vector
{
public:
	vector(Allocator *from = Allocator::Default) : allocator(from)
	{
	}
	vector(const vector &other) : allocator(other.allocator)
	{
		copy(other);
	}
	vector(vector &&other) : allocator(other.allocator)
	{
		move(other);
	}
	template <int OTHER>
	vector(const vector<T, OTHER> &other,
	       Allocator              *from = Allocator::Default)
	    : allocator(from)
	{
		copy(other);
	}
	template <int OTHER>
	vector(vector<T, OTHER> &&other, Allocator *from = Allocator::Default)
	    : allocator(from)
	{
		move(other);
	}
	~vector()
	{
		resize_down(0);
		release();
	}

	vector &operator=(const vector &other)
	{
		if (this != &other)
			copy(other);
		return *this;
	}
	vector &operator=(vector &&other)
	{
		if (this != &other)
			move(other);
		return *this;
	}
	template <int OTHER> vector &operator=(const vector<T, OTHER> &other)
	{
		copy(other);
		return *this;
	}
	template <int OTHER> vector &operator=(vector<T, OTHER> &&other)
	{
		move(other);
		return *this;
	}

	/* The argument may be an element of this vector. */
	void push_back(const T &element)
	{
		emplace_back(T(element));
	}
	void emplace_back(T &&element)
	{
		if (count_ < capacity_) {
			new (elements_ + count_) T(std::move(element));
		} else {
			T moved(std::move(element));

			reserve(count_ + 1);
			new (elements_ + count_) T(std::move(moved));
		}
		count_++;
	}
	template <typename... Arguments>
	void emplace_back(Arguments &&...arguments)
	{
		emplace_back(T(std::forward<Arguments>(arguments)...));
	}
	void pop_back()
	{
		detail::require(count_ > 0, "pop_back() of an empty vector");
		elements_[--count_].~T();
	}

	T &front()
	{
		return (*this)[0];
	}
	T &back()
	{
		return (*this)[count_ - 1];
	}
	const T &front() const
	{
		return (*this)[0];
	}
	const T &back() const
	{
		return (*this)[count_ - 1];
	}
	T *begin()
	{
		return elements_;
	}
	T *end()
	{
		return elements_ + count_;
	}
	const T *begin() const
	{
		return elements_;
	}
	const T *end() const
	{
		return elements_ + count_;
	}
	T *data()
	{
		return elements_;
	}
	const T *data() const
	{
		return elements_;
	}
	T &operator[](size_t i)
	{
		detail::require(i < count_, "index beyond the vector's size");
		return elements_[i];
	}
	const T &operator[](size_t i) const
	{
		detail::require(i < count_, "index beyond the vector's size");
		return elements_[i];
	}

	size_t size() const
	{
		return count_;
	}
	size_t cap() const
	{
		return capacity_;
	}
	void resize(size_t n)
	{
		reserve(n);
		for (; count_ < n; ++count_)
			new (elements_ + count_) T();
		resize_down(n);
	}
	void reserve(size_t n)
	{
		if (n > capacity_)
			grow(std::max<size_t>(2 * n, 8));
	}

	Allocator *const allocator;

private:
	static constexpr size_t INSIDE = BASE_CAPACITY > 0 ? BASE_CAPACITY : 0;

	T *inside()
	{
		return reinterpret_cast<T *>(base_);
	}

	void resize_down(size_t n)
	{
		while (count_ > n)
			elements_[--count_].~T();
	}

	void release()
	{
		if (allocation_.ptr)
			allocator->free(allocation_);
		allocation_ = Allocation();
		elements_ = inside();
		capacity_ = INSIDE;
	}

	void grow(size_t capacity)
	{
		Allocation::Request request;

		request.size = sizeof(T) * capacity;
		request.alignment = alignof(T);
		request.usage = Allocation::Usage::Vector;

		Allocation grown = allocator->allocate(request);
		T         *to = static_cast<T *>(grown.ptr);

		detail::require(to != nullptr, "out of memory");
		for (size_t i = 0; i < count_; ++i) {
			new (to + i) T(std::move(elements_[i]));
			elements_[i].~T();
		}
		release();
		allocation_ = grown;
		elements_ = to;
		capacity_ = capacity;
	}

	template <typename Other> void copy(const Other &other)
	{
		resize_down(0);
		reserve(other.size());
		for (const T &element : other) {
			new (elements_ + count_) T(element);
			count_++;
		}
	}

	template <typename Other> void move(Other &other)
	{
		resize_down(0);
		reserve(other.size());
		for (T &element : other) {
			new (elements_ + count_) T(std::move(element));
			count_++;
		}
		other.resize(0);
	}

	size_t     count_ = 0;
	size_t     capacity_ = INSIDE;
	T         *elements_ = inside();
	Allocation allocation_;
	alignas(T) unsigned char base_[sizeof(T) * (INSIDE ? INSIDE : 1)];
};

/* A list whose elements stay where they are, and whose nodes are reused. */
template <typename T> class list
{
	struct Node {
		Node *next;
		Node *prev;
		alignas(T) unsigned char element[sizeof(T)];

		T *get()
		{
			return reinterpret_cast<T *>(element);
		}
	};

public:
	class iterator
	{
	public:
		iterator(Node *node) : node_(node)
		{
		}
		T *operator->()
		{
			return node_->get();
		}
		T &operator*()
		{
			return *node_->get();
		}
		iterator &operator++()
		{
			node_ = node_->next;
			return *this;
		}
		bool operator==(const iterator &other) const
		{
			return node_ == other.node_;
		}
		bool operator!=(const iterator &other) const
		{
			return node_ != other.node_;
		}

	private:
		friend class list;
		Node *node_;
	};

	list(Allocator *allocator = Allocator::Default) : allocator_(allocator)
	{
	}
	~list()
	{
		while (head_)
			erase(begin());
		while (chunks_)
			give_back(chunks_);
	}
	list(const list &) = delete;
	list(list &&) = delete;
	list &operator=(const list &) = delete;
	list &operator=(list &&) = delete;

	iterator begin()
	{
		return iterator(head_);
	}
	iterator end()
	{
		return iterator(nullptr);
	}
	size_t size() const
	{
		return size_;
	}

	template <typename... Arguments>
	iterator emplace_front(Arguments &&...arguments)
	{
		if (!spare_)
			grow();

		Node *node = spare_;

		new (node->element) T(std::forward<Arguments>(arguments)...);
		spare_ = node->next;
		node->next = head_;
		node->prev = nullptr;
		if (head_)
			head_->prev = node;
		head_ = node;
		size_++;
		return iterator(node);
	}

	void erase(iterator it)
	{
		Node *node = it.node_;

		if (node->prev)
			node->prev->next = node->next;
		else
			head_ = node->next;
		if (node->next)
			node->next->prev = node->prev;
		node->get()->~T();
		node->next = spare_;
		spare_ = node;
		size_--;
	}

private:
	/* Heads what was allocated for `count` nodes, which follow it. */
	struct alignas(alignof(Node)) Chunk {
		Chunk     *next;
		Allocation allocation;
	};

	void grow()
	{
		size_t              count = std::max<size_t>(capacity_, 8);
		Allocation::Request request;

		request.size = sizeof(Chunk) + count * sizeof(Node);
		request.alignment = alignof(Chunk);
		request.usage = Allocation::Usage::List;

		Allocation a = allocator_->allocate(request);

		detail::require(a.ptr != nullptr, "out of memory");
		chunks_ = new (a.ptr) Chunk{ chunks_, a };
		Node *nodes = reinterpret_cast<Node *>(chunks_ + 1);
		for (size_t i = count; i > 0; --i) {
			nodes[i - 1].next = spare_;
			spare_ = &nodes[i - 1];
		}
		capacity_ += count;
	}

	void give_back(Chunk *chunk)
	{
		Allocation a = chunk->allocation;

		chunks_ = chunk->next;
		allocator_->free(a);
	}

	Allocator *const allocator_;
	size_t           size_ = 0;
	size_t           capacity_ = 0;
	Chunk           *chunks_ = nullptr;
	Node            *spare_ = nullptr;
	Node            *head_ = nullptr;
};

} // namespace containers
} // namespace marl

#endif
