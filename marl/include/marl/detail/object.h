/* SPDX-License-Identifier: Apache-2.0 */
/* object.h - the object that was constructed in some storage. */
#ifndef marl_detail_object_h
#define marl_detail_object_h

namespace marl
{
namespace detail
{

/* Return the T that a placement new has constructed in the storage. A pointer
 * to the bytes is not a pointer to that object. This is std::launder of
 * C++17. */
template <typename T> inline T *made_in(unsigned char *storage) noexcept
{
	return __builtin_launder(reinterpret_cast<T *>(storage));
}

} // namespace detail
} // namespace marl

#endif
