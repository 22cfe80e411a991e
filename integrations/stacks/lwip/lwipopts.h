/* lwIP for one TCP connection over IPv4 packets, polled by one thread. What is not here is lwIP's own default; what may be told
 * otherwise by the compiler (-DTCP_MSS=1460) says so. */
#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_SOCKET 0
#define LWIP_NETCONN 0
#define LWIP_ARP 0
#define LWIP_ETHERNET 0
#define LWIP_ICMP 0
#define LWIP_RAW 0
#define LWIP_UDP 0
#define IP_REASSEMBLY 0
#define IP_FRAG 0
#define LWIP_STATS 0

/* Memory is the machine's: what limits a connection are the windows and buffers of TCP alone. */
#define MEM_LIBC_MALLOC 1
#define MEMP_MEM_MALLOC 1
#define MEM_ALIGNMENT 8
#define MEMP_NUM_TCP_SEG TCP_SND_QUEUELEN
#define PBUF_POOL_SIZE 1024

/* May be told otherwise: TCP_MSS, TCP_WND, TCP_SND_BUF, LWIP_TCP_SACK_OUT, LWIP_TCP_TIMESTAMPS, and the shift of scaled
 * windows. */
#ifdef TCP_RCV_SCALE
#define LWIP_WND_SCALE 1
#endif
