export { type AnyJob, type EnqueueOptions, type Job, type JobCall, type JobServices, job } from './job.ts';
export { startWorker, type Worker, type WorkerOptions } from './worker.ts';
