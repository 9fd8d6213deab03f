/* SPDX-License-Identifier: Apache-2.0 */
/* version.hpp - the namespace of the classes: sennit, and in it an inline
 * namespace that names their layout.
 *
 * Some classes have another layout without exceptions (-fno-exceptions), and
 * may have another one in a later version. The inline namespace is a part of
 * each symbol. So object files with different layouts can be linked into one
 * program: each uses its own classes. A function that takes an object of such a
 * class and is defined in the other kind of file is an unresolved symbol.
 *
 * A program writes sennit::group, and does not name the inline namespace. It
 * may specialise templates of sennit, but not declare its classes: include
 * their header.
 */
#ifndef SENNIT_CPP_VERSION_HPP
#define SENNIT_CPP_VERSION_HPP

#if defined(__cpp_exceptions)
#define SENNIT_CPP_EXCEPTIONS 1
#define SENNIT_CPP_LAYOUT     v1
#else
#define SENNIT_CPP_EXCEPTIONS 0
#define SENNIT_CPP_LAYOUT     v1_noexcept
#endif

#define SENNIT_CPP_BEGIN                   \
	namespace sennit                   \
	{                                  \
	inline namespace SENNIT_CPP_LAYOUT \
	{
#define SENNIT_CPP_END \
	}              \
	}

#endif
