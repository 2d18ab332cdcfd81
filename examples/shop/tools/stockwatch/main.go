// Command stockwatch asks the shop for products that are running low.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

// Product is a product as the catalogue lists it.
type Product struct {
	Sku     string `json:"sku"`
	Name    string `json:"name"`
	InStock bool   `json:"inStock"`
}

// Watcher asks one shop.
type Watcher struct {
	client *http.Client
	base   string
}

// NewWatcher returns a watcher that gives up after ten seconds.
func NewWatcher(base string) *Watcher {
	return &Watcher{client: &http.Client{Timeout: 10 * time.Second}, base: base}
}

// SoldOut returns the products that match the words and are out of stock.
func (w *Watcher) SoldOut(words string) ([]Product, error) {
	response, err := w.client.Get(w.base + "/api/catalog/products?q=" + words)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", w.base, err)
	}
	defer response.Body.Close()
	var products []Product
	if err := json.NewDecoder(response.Body).Decode(&products); err != nil {
		return nil, err
	}
	var soldOut []Product
	for _, product := range products {
		if !product.InStock {
			soldOut = append(soldOut, product)
		}
	}
	return soldOut, nil
}

func main() {
	soldOut, err := NewWatcher(os.Args[1]).SoldOut(os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, product := range soldOut {
		fmt.Println(product.Sku, product.Name)
	}
}
