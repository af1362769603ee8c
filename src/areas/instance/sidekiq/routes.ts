/** The job queues, under the names that clients expect (docs/reference/sidekiq.md). */
import { Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { get, one } from '../../../http/index.ts';
import { jobFigures, queueFigures, workerFigures } from '../../../jobs/index.ts';

const queueMembers = {
  queues: Type.Record(
    Type.String(),
    Type.Object({
      backlog: Type.Integer({ description: 'Jobs that wait to be run now' }),
      latency: Type.Integer({ description: 'How many whole seconds the first of them has waited' }),
    }),
    { description: 'By the names of jobs' },
  ),
};
const processMembers = {
  processes: Type.Array(
    Type.Object({
      hostname: Type.String(),
      pid: Type.Integer(),
      tag: Type.String(),
      started_at: Type.String({ format: 'date-time' }),
      queues: Type.Array(Type.String(), { description: 'The names of the jobs that it runs' }),
      labels: Type.Array(Type.String()),
      concurrency: Type.Integer({ description: 'How many jobs it runs at once' }),
      busy: Type.Integer({ description: 'How many it is running' }),
    }),
  ),
};
const jobMembers = {
  jobs: Type.Object({
    processed: Type.Integer({ description: 'Runs that have ended, those that failed included' }),
    failed: Type.Integer(),
    enqueued: Type.Integer({ description: 'Jobs that wait to be run now' }),
    dead: Type.Integer({ description: 'Jobs that have failed for good' }),
  }),
};

const queues = async (db: Database) => ({
  // Clients expect a queue `default`, which has no jobs of its own here.
  queues: {
    default: { backlog: 0, latency: 0 },
    ...Object.fromEntries((await queueFigures(db)).map(({ name, ...figures }) => [name, figures])),
  },
});
const processes = async (db: Database) => ({
  processes: (await workerFigures(db)).map(({ jobs, ...figures }) => ({
    ...figures,
    tag: 'coppice',
    queues: [...jobs],
    labels: [],
  })),
});
const jobs = async (db: Database) => ({ jobs: await jobFigures(db) });

export const sidekiqRoutes = [
  get('/sidekiq/queue_metrics', {
    operation: 'getQueueMetrics',
    summary: 'Show how many jobs wait, and for how long',
    access: admin,
    returns: one(Type.Object(queueMembers)),
    handle: ({ db }) => queues(db),
  }),
  get('/sidekiq/process_metrics', {
    operation: 'getProcessMetrics',
    summary: 'Show the processes that run jobs',
    access: admin,
    returns: one(Type.Object(processMembers)),
    handle: ({ db }) => processes(db),
  }),
  get('/sidekiq/job_stats', {
    operation: 'getJobStats',
    summary: 'Show how many jobs were run, failed and wait',
    access: admin,
    returns: one(Type.Object(jobMembers)),
    handle: ({ db }) => jobs(db),
  }),
  get('/sidekiq/compound_metrics', {
    operation: 'getCompoundMetrics',
    summary: 'Show everything about jobs and what runs them',
    access: admin,
    returns: one(Type.Object({ ...queueMembers, ...processMembers, ...jobMembers })),
    handle: async ({ db }) => ({ ...(await queues(db)), ...(await processes(db)), ...(await jobs(db)) }),
  }),
];
