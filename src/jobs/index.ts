export { jobFigures, queueFigures, workerFigures } from './figures.ts';
export { type AnyJob, type JobCall, job, queueOf } from './job.ts';
export type { Poll, PollCall } from './poll.ts';
export { whileOurs } from './while_ours.ts';
export { startWorker, type Worker } from './worker.ts';
