/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.cpp - several clerks price orders at once, and the till books the
 * prices. Channels carry the orders, which contain strings. A closed channel
 * tells the next stage that there are no more. */
#include <sennit.hpp>

#include <cstdio>
#include <string>

struct order {
	int         number;
	std::string item;
	long        cents = 0;
};

static void take_orders(sennit::channel<order> &to, int n)
{
	const char *const menu[] = { "tea", "cake", "sandwich" };

	for (int i = 0; i < n; i++)
		to.send(order{ i, menu[i % 3] });
	to.close();
}

static void price(sennit::channel<order> &from, sennit::channel<order> &to)
{
	for (order &o : from) {
		o.cents = 150 * static_cast<long>(o.item.size());
		to.send(std::move(o));
	}
}

int main()
{
	constexpr int          n = 300;
	sennit::scheduler      s{ sennit::config() };
	sennit::binding        bound(s);
	sennit::channel<order> taken(8), priced(8);
	sennit::group          team;
	sennit::wait_group     clerks;
	long                   sum = 0;
	int                    booked = 0;

	team.spawn(take_orders, std::ref(taken), n);
	for (int i = 0; i < 4; i++)
		team.spawn([&, busy = sennit::wait_group::share(clerks)] {
			price(taken, priced);
		});
	team.spawn([&] {
		clerks.wait();
		priced.close();
	});
	for (const order &o : priced) {
		sum += o.cents;
		booked++;
	}
	team.wait();
	std::printf("%d orders, %ld.%02ld in the till\n", booked, sum / 100,
		    sum % 100);
	return booked == n ? 0 : 1;
}
