/* SPDX-License-Identifier: Apache-2.0 */
/* object.h - the object that was made in some storage. */
#ifndef marl_detail_object_h
#define marl_detail_object_h

namespace marl
{
namespace detail
{

/* The T that a placement new has made there: a pointer to bytes is none to what
 * lies in them. What std::launder is to C++17. */
template <typename T> inline T *made_in(unsigned char *storage) noexcept
{
	return __builtin_launder(reinterpret_cast<T *>(storage));
}

} // namespace detail
} // namespace marl

#endif
