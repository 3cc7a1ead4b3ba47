/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_MINMAX_H
#define _SHIM_LINUX_MINMAX_H

#define min(x, y) ({							\
	__auto_type _x = (x);						\
	__auto_type _y = (y);						\
									\
	_x < _y ? _x : _y;						\
})

#define max(x, y) ({							\
	__auto_type _x = (x);						\
	__auto_type _y = (y);						\
									\
	_x > _y ? _x : _y;						\
})

#define min_t(type, x, y)	min((type)(x), (type)(y))

#endif /* _SHIM_LINUX_MINMAX_H */
