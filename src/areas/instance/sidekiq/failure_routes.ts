/** Jobs that have failed, which administrators see, try again and drop on a page. */
import { Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import { del, get, Id, notFound, nothing, pageOf, post, resource, Timestamp } from '../../../http/index.ts';
import { dropJob, failedJobs, retryJob } from '../../../jobs/index.ts';
import { paginate, paging } from '../../../lists/index.ts';

const FailedJob = resource('FailedJob', {
  id: Id,
  name: Type.String(),
  attempts: Type.Integer(),
  max_attempts: Type.Integer(),
  run_at: Timestamp,
  created_at: Timestamp,
  last_error: Type.String(),
  dead: Type.Boolean({ description: 'Whether it is not tried again' }),
});

export const jobFailureRoutes = [
  get('/sidekiq/failed_jobs', {
    operation: 'listFailedJobs',
    summary: 'List the jobs whose last run has failed',
    access: admin,
    input: paging,
    returns: pageOf(FailedJob),
    handle: ({ db, input }) => paginate(db, failedJobs(db), input),
  }),
  post('/sidekiq/failed_jobs/:id/retry', {
    operation: 'retryFailedJob',
    summary: 'Try a job again at once',
    access: admin,
    input: { id: Id },
    returns: nothing,
    refusals: { 404: '404 Job Not Found' },
    handle: async ({ db, input }) => {
      if (!(await retryJob(db, input.id))) throw notFound('Job');
    },
  }),
  del('/sidekiq/failed_jobs/:id', {
    operation: 'dropFailedJob',
    summary: 'Remove a job that has failed',
    access: admin,
    input: { id: Id },
    returns: nothing,
    refusals: { 404: '404 Job Not Found' },
    handle: async ({ db, input }) => {
      if (!(await dropJob(db, input.id))) throw notFound('Job');
    },
  }),
];
