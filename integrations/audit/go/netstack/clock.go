package main

import (
	"sync"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"

	"windlass-audit/protocol"
)

// clock has the time of the last request, and the timers of the stack. Each reading takes a nanosecond, as on a computer:
// the library takes segments with equal times for reordered.
type clock struct {
	mutex sync.Mutex
	now   uint64
	read  uint64
	// Resolution; 0 for a nanosecond.
	coarse uint64
	count  int
	timers map[*timer]bool
}

type timer struct {
	clock *clock
	act   func()
	at    uint64
	// Order of timers of the same time.
	number int
}

func (c *clock) Now() time.Time { return time.Unix(1_700_000_000, 0).Add(time.Duration(c.time())) }

func (c *clock) NowMonotonic() tcpip.MonotonicTime {
	return tcpip.MonotonicTime{}.Add(time.Duration(c.time()))
}

func (c *clock) time() uint64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.coarse > 0 {
		return c.now - c.now%c.coarse
	}
	c.read = max(c.read+1, c.now)
	return c.read
}

func (c *clock) AfterFunc(wait time.Duration, act func()) tcpip.Timer {
	t := &timer{clock: c, act: act}
	t.Reset(wait)
	return t
}

func (t *timer) Stop() bool {
	t.clock.mutex.Lock()
	defer t.clock.mutex.Unlock()
	waits := t.clock.timers[t]
	delete(t.clock.timers, t)
	return waits
}

func (t *timer) Reset(wait time.Duration) {
	c := t.clock
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.timers == nil {
		c.timers = map[*timer]bool{}
	}
	c.count++
	t.at, t.number = c.now+uint64(max(wait, 0)), c.count
	c.timers[t] = true
}

// first is the timer that is due first; nil if there is none.
func (c *clock) first() *timer {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var first *timer
	for t := range c.timers {
		if first == nil || t.at < first.at || t.at == first.at && t.number < first.number {
			first = t
		}
	}
	return first
}

// next is the time of the next timer.
func (c *clock) next() uint64 {
	if first := c.first(); first != nil {
		return first.at
	}
	return protocol.Never
}

// advance sets the time, and runs the timers until then. The function settle waits for their effects.
func (c *clock) advance(now uint64, settle func()) {
	for first := c.first(); first != nil && first.at <= now; first = c.first() {
		c.mutex.Lock()
		c.now = max(c.now, first.at)
		delete(c.timers, first)
		c.mutex.Unlock()
		go first.act()
		settle()
	}
	c.mutex.Lock()
	c.now = max(c.now, now)
	c.mutex.Unlock()
}
