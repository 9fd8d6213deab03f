/* SPDX-License-Identifier: Apache-2.0 */
/* containers.h - the standard containers over an Allocator, and two of marl's
 * own: a vector with built-in storage for its first elements, and a list.
 */
#ifndef marl_containers_h
#define marl_containers_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "debug.h"
#include "memory.h"

#include "detail/object.h"
#include "detail/vector.h"

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

/* Remove and return the first element of a queue that is not empty. */
template <typename T> inline T take(deque<T> &queue)
{
	T first = std::move(queue.front());

	queue.pop_front();
	return first;
}

/* Remove and return any element of a set that is not empty. */
template <typename T, typename H, typename E>
inline T take(unordered_set<T, H, E> &set)
{
	auto it = set.begin();
	T    any = *it;

	set.erase(it);
	return any;
}

/* A list whose elements do not move, and whose nodes are reused. */
template <typename T> class list
{
	struct Node {
		Node *next;
		Node *prev;
		alignas(T) unsigned char element[sizeof(T)];

		T *get()
		{
			return detail::made_in<T>(element);
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
	/* The header of an allocation for `count` nodes, which follow it. */
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
		char *end = static_cast<char *>(a.ptr) + request.size;
		for (size_t i = 1; i <= count; ++i) {
			Node *node = new (end - i * sizeof(Node)) Node;

			node->next = spare_;
			spare_ = node;
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
#endif
