// SPDX-License-Identifier: Apache-2.0

// go.go - the server of io/bench/server.h in Go: a goroutine per connection,
// with the same parse; mode net-http: with the standard library's server.
package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

const (
	seconds = 120
	request = 1024
	fanOut  = 100
	answer  = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" +
		"Content-Length: 13\r\n\r\nHello, world\n"
	ask = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"
)

var (
	answerBytes = []byte(answer)
	askBytes    = []byte(ask)
	emptyLine   = []byte("\r\n\r\n")
)

// Read requests, and have each answered.
func serve(c net.Conn, reply func() bool) {
	defer c.Close()
	b := make([]byte, request)
	have := 0
	for {
		n, err := c.Read(b[have:])
		if err != nil {
			return
		}
		have += n
		for {
			at := bytes.Index(b[:have], emptyLine)
			if at < 0 {
				break
			}
			have = copy(b, b[at+len(emptyLine):have])
			if !reply() {
				return
			}
		}
	}
}

func serveHello(c net.Conn) {
	serve(c, func() bool {
		_, err := c.Write(answerBytes)
		return err == nil
	})
}

func call(c net.Conn, done *sync.WaitGroup) {
	b := make([]byte, request)
	if _, err := c.Write(askBytes); err != nil {
		panic(err)
	}
	for have := 0; have < len(answer); {
		n, err := c.Read(b)
		if err != nil {
			panic(err)
		}
		have += n
	}
	done.Done()
}

func serveByAsking(c net.Conn, port string) {
	var upstream [fanOut]net.Conn
	for i := range upstream {
		u, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			panic(err)
		}
		defer u.Close()
		upstream[i] = u
	}
	serve(c, func() bool {
		var done sync.WaitGroup
		done.Add(fanOut)
		for _, u := range upstream {
			go call(u, &done)
		}
		done.Wait()
		_, err := c.Write(answerBytes)
		return err == nil
	})
}

func hello(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.Write([]byte("Hello, world\n"))
}

func main() {
	mode, workers := os.Args[1], 1
	if len(os.Args) > 2 {
		workers, _ = strconv.Atoi(os.Args[2])
	}
	runtime.GOMAXPROCS(workers)
	time.AfterFunc(seconds*time.Second, func() { os.Exit(0) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	if mode == "net-http" {
		http.Serve(l, http.HandlerFunc(hello))
		return
	}
	for {
		c, err := l.Accept()
		if err != nil {
			continue
		}
		if mode == "fan-out" {
			go serveByAsking(c, os.Args[3])
		} else {
			go serveHello(c)
		}
	}
}
