// quic-go as a sender behind the packet interface of `windlass audit`, in the virtual time of testing/synctest. Only a
// test has it, so that the program is a test: `go test -c`. Its argument is the algorithm.
package quic

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlogwriter"

	"windlass-audit/protocol"
)

// version is the version of the library; a test does not know its modules, so that the build sets it.
var version = "unknown"

const (
	// Intervals between requests: the library's timers are hidden, so that the laboratory asks regularly. The first is
	// used while packets move, the second after a time without any.
	busy, calm = 200 * time.Microsecond, 2 * time.Millisecond
	quiet      = 300 * time.Millisecond
	// Handshake and idle timeouts, which never limit.
	long = 10 * time.Minute
)

type end struct {
	conn    *conn
	start   time.Time
	moved   time.Time
	setting protocol.Setting
	writes  *protocol.Writes
}

func open(setting protocol.Setting, algorithm string) (protocol.Greeting, protocol.End, error) {
	greeting := protocol.Greeting{
		Name: "quic-go", Version: version, Algorithm: algorithm, Carries: "udp",
	}
	if algorithm != "reno" {
		return greeting, nil, fmt.Errorf("the algorithm is reno")
	}
	e := &end{conn: newConn(setting), start: time.Now(), setting: setting, writes: protocol.NewWrites(setting)}
	go e.send()
	return greeting, e, nil
}

// send is the application.
func (e *end) send() {
	e.sleepUntil(e.writes.Next())
	transport := &quic.Transport{Conn: e.conn}
	peer := &tls.Config{InsecureSkipVerify: true, ServerName: "localhost", NextProtos: []string{"windlass-audit"}}
	connection, err := transport.Dial(context.Background(), net.UDPAddrFromAddrPort(e.setting.Remote), peer, &quic.Config{
		HandshakeIdleTimeout: long, MaxIdleTimeout: long, Tracer: record,
	})
	fatal(err)
	stream, err := connection.OpenUniStreamSync(context.Background())
	fatal(err)
	chunk := make([]byte, 1<<14)
	for {
		due := min(e.writes.Due(uint64(time.Since(e.start))), uint64(len(chunk)))
		if due == 0 {
			e.sleepUntil(e.writes.Next())
			continue
		}
		took, err := stream.Write(chunk[:due])
		fatal(err)
		e.writes.Took(uint64(took))
	}
}

func (e *end) sleepUntil(at uint64) {
	if at == protocol.Never {
		select {}
	}
	time.Sleep(time.Duration(at) - time.Since(e.start))
}

func (e *end) Step(now uint64, arrived [][]byte) ([][]byte, uint64) {
	time.Sleep(time.Duration(now) - time.Since(e.start))
	synctest.Wait()
	for _, packet := range arrived {
		e.conn.arriving <- packet
	}
	synctest.Wait()
	leaving := e.conn.leaving
	e.conn.leaving = nil
	if len(arrived)+len(leaving) > 0 {
		e.moved = time.Now()
	}
	wait := busy
	if time.Since(e.moved) > quiet {
		wait = calm
	}
	return leaving, now + uint64(wait)
}

// record writes a recording to the file WINDLASS_QLOG, without a buffer, because the laboratory ends the program.
func record(_ context.Context, isClient bool, id quic.ConnectionID) qlogwriter.Trace {
	path := os.Getenv("WINDLASS_QLOG")
	if path == "" {
		return nil
	}
	file, err := os.Create(path)
	fatal(err)
	recording := qlogwriter.NewConnectionFileSeq(file, isClient, id)
	go recording.Run()
	return recording
}

// conn is the socket: a queue in each direction.
type conn struct {
	local, remote net.Addr
	arriving      chan []byte
	leaving       [][]byte
}

func newConn(setting protocol.Setting) *conn {
	return &conn{
		local:    net.UDPAddrFromAddrPort(setting.Local),
		remote:   net.UDPAddrFromAddrPort(setting.Remote),
		arriving: make(chan []byte, 1<<16),
	}
}

func (c *conn) ReadFrom(to []byte) (int, net.Addr, error) {
	return copy(to, <-c.arriving), c.remote, nil
}

func (c *conn) WriteTo(packet []byte, _ net.Addr) (int, error) {
	c.leaving = append(c.leaving, append([]byte(nil), packet...))
	return len(packet), nil
}

func (c *conn) Close() error                     { return nil }
func (c *conn) LocalAddr() net.Addr              { return c.local }
func (c *conn) SetDeadline(time.Time) error      { return nil }
func (c *conn) SetReadDeadline(time.Time) error  { return nil }
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

func fatal(err error) {
	if err != nil && err != io.EOF {
		fmt.Fprintf(os.Stderr, "windlass-audit-quic-go: %v\n", err)
		os.Exit(1)
	}
}

func TestServe(t *testing.T) {
	os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true")
	synctest.Test(t, func(*testing.T) {
		fatal(protocol.Serve(open, flag.Arg(0)))
		os.Exit(0)
	})
}
