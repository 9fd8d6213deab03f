/* SPDX-License-Identifier: Apache-2.0 */
/* vector.h - a vector with built-in storage for its first elements. */
#ifndef marl_detail_vector_h
#define marl_detail_vector_h

#include "../debug.h"
#include "../memory.h"

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

namespace marl
{
namespace containers
{

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

} // namespace containers
} // namespace marl

#endif
