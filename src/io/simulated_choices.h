/* SPDX-License-Identifier: Apache-2.0 */
/* simulated_choices.h - what the simulated network leaves to the seed, how it
 * is configured, and what it has done.
 *
 * One lock guards all of the network. No thread comes to a point while it holds
 * the lock, so each step of the network is one step of the run.
 */
#ifndef SN_IO_SIMULATED_CHOICES_H
#define SN_IO_SIMULATED_CHOICES_H

#include "sennit/simulation.h"

#include <stdbool.h>

#ifdef SENNIT_DETERMINISTIC

/* Reads and writes of what follows, and of all other simulated_ modules. */
void sn_simulated_lock(void);
void sn_simulated_unlock(void);

/* What is configured, with the defaults filled in. */
const sennit_simulation_config *sn_simulated_config(void);

/* 0 or -EINVAL. Forgets what has been noted. */
int sn_simulated_configure(const sennit_simulation_config *config);

/* With a chance of so many in a million. */
bool sn_simulated_happens(uint32_t in_a_million);

/* When something arrives that is sent now. */
sennit_time sn_simulated_arrival(void);

/* How much of this is transferred: mostly all, at least 1. */
uint32_t sn_simulated_part(uint32_t all);

/* Something has happened at an end (0: none). Changes the digest, and is
 * printed if the environment says so. */
void sn_simulated_note(const char *what, uint32_t end, uint64_t number);

uint64_t sn_simulated_digest(void);

#endif
#endif
