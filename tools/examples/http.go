// SPDX-License-Identifier: GPL-2.0

// A server of files, and a client, with net/http: nothing in it is about RDMA.
//
//	rsock-run -s http serve ADDRESS:PORT FOLDER
//	rsock-run -s http URL...        writes what is there to standard output
package main

import (
	"io"
	"log"
	"net/http"
	"os"
)

func get(url string) {
	response, err := http.Get(url)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		log.Fatalf("%s: %s", url, response.Status)
	}
	if _, err = io.Copy(os.Stdout, response.Body); err != nil {
		log.Fatal(err)
	}
}

func main() {
	if os.Args[1] == "serve" {
		log.Fatal(http.ListenAndServe(os.Args[2], http.FileServer(http.Dir(os.Args[3]))))
	}
	for _, url := range os.Args[1:] {
		get(url)
	}
}
