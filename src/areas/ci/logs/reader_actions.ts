/** Which logs somebody follows while they grow (docs/reference/job_logs.md). Each process knows its own readers. */
import { cacheOf } from '../../../foundation/caches.ts';

/** Who reloads a page follows it for so long. */
const followed_ms = 60_000;
const followed = cacheOf<number, true>(10_000, { ttl: followed_ms });

/** Notes that somebody read the log of a job that has not ended. */
export const noteReader = (job_id: number): void => {
  followed.set(job_id, true);
};

/** How often a runner should send what the log of a job has grown by, in seconds. */
export const sendingInterval = (job_id: number): number => (followed.has(job_id) ? 3 : 10);
