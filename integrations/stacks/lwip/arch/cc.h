/* What lwIP asks of a compiler and machine beyond its defaults. */
#ifndef WINDLASS_LWIP_CC_H
#define WINDLASS_LWIP_CC_H

unsigned windlass_lwip_random(void);
#define LWIP_RAND() windlass_lwip_random()

#endif
