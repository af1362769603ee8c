export { dropJob, failedJobs, retryJob } from './failures.ts';
export { jobFigures, queueFigures, workerFigures } from './figures.ts';
export { type AnyJob, type JobCall, job, type PeerRules, queueOf } from './job.ts';
export { peerQueueOf } from './peers.ts';
export type { Poll, PollCall } from './poll.ts';
export { Ended, whileOurs } from './while_ours.ts';
export { startWorker, type Worker } from './worker.ts';
