// Package protocol is the packet interface of `windlass audit`: one line of JSON each way, then requests and
// answers. docs/src/guides/audit.md describes it.
package protocol

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/netip"
	"os"
	"runtime/debug"
)

// Never as a deadline: the end only waits.
const Never = ^uint64(0)

// Setting is the first line from the laboratory.
type Setting struct {
	Version int            `json:"version"`
	Role    string         `json:"role"`
	Local   netip.AddrPort `json:"local"`
	Remote  netip.AddrPort `json:"remote"`
	MTU     uint32         `json:"mtu"`
	Seed    uint64         `json:"seed"`
	Writes  [][2]uint64    `json:"writes"`
}

// Greeting is the first line to the laboratory.
type Greeting struct {
	Name      string `json:"name,omitempty"`
	Version   string `json:"version,omitempty"`
	Algorithm string `json:"algorithm,omitempty"`
	Carries   string `json:"carries,omitempty"`
	Error     string `json:"error,omitempty"`
}

// End is a stack with its application.
type End interface {
	// Step processes the packets that arrived, and returns those that leave, and the time of the next request.
	Step(now uint64, arrived [][]byte) (leaving [][]byte, deadline uint64)
}

// ErrReceiver refuses the role of the receiver.
var ErrReceiver = errors.New("the stack is a sender only; use another library as the peer")

// Open opens a stack with a congestion control.
type Open func(setting Setting, algorithm string) (Greeting, End, error)

// Serve serves until the end of standard input.
func Serve(open Open, algorithm string) error {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var setting Setting
	if err := json.Unmarshal(line, &setting); err != nil {
		return err
	}
	var greeting Greeting
	var end End
	err = ErrReceiver
	if setting.Role == "sender" {
		greeting, end, err = open(setting, algorithm)
	}
	if err != nil {
		greeting = Greeting{Error: err.Error()}
	}
	line, _ = json.Marshal(greeting)
	out.Write(append(line, '\n'))
	if out.Flush(); end == nil {
		return nil
	}
	for {
		now, arrived, err := request(in)
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		leaving, deadline := end.Step(now, arrived)
		answer(out, deadline, leaving)
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

func request(in io.Reader) (now uint64, packets [][]byte, err error) {
	var head [12]byte
	if _, err = io.ReadFull(in, head[:]); err != nil {
		return
	}
	now = binary.LittleEndian.Uint64(head[:])
	for range binary.LittleEndian.Uint32(head[8:]) {
		var head [5]byte
		if _, err = io.ReadFull(in, head[:]); err != nil {
			return
		}
		packet := make([]byte, binary.LittleEndian.Uint32(head[1:]))
		if _, err = io.ReadFull(in, packet); err != nil {
			return
		}
		packets = append(packets, packet)
	}
	return
}

func answer(out io.Writer, deadline uint64, packets [][]byte) {
	head := binary.LittleEndian.AppendUint64(nil, deadline)
	out.Write(binary.LittleEndian.AppendUint32(head, uint32(len(packets))))
	for _, packet := range packets {
		out.Write(binary.LittleEndian.AppendUint32([]byte{0}, uint32(len(packet))))
		out.Write(packet)
	}
}

// Version is the version of a module of this program.
func Version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				return dependency.Version
			}
		}
	}
	return "unknown"
}

// Writes are the writes of the application.
type Writes struct {
	left [][2]uint64
	due  uint64
}

// NewWrites returns the writes of a setting.
func NewWrites(setting Setting) *Writes { return &Writes{left: setting.Writes} }

// Next is the time of the next write after those that are due.
func (w *Writes) Next() uint64 {
	if len(w.left) == 0 {
		return Never
	}
	return w.left[0][0]
}

// Due is the number of bytes to write now.
func (w *Writes) Due(now uint64) uint64 {
	for w.Next() <= now {
		w.due += w.left[0][1]
		w.left = w.left[1:]
	}
	return w.due
}

// Took tells that the stack has taken this number of bytes.
func (w *Writes) Took(bytes uint64) { w.due -= bytes }
