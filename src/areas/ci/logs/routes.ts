/** Reading and erasing logs of jobs (docs/reference/job_logs.md). */
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { levels, projectRole } from '../../../access/index.ts';
import {
  type AnyEndpoint,
  ApiError,
  bytes,
  forbidden,
  get,
  Id,
  notAllowed,
  one,
  optional,
  post,
} from '../../../http/index.ts';
import { Job, jobReply } from '../../code/jobs/index.ts';
import { pipelinesReader } from '../../code/pipelines/index.ts';
import { jobIn } from '../running/queries.ts';
import { eraseJob, notErasableText } from './erasing_actions.ts';
import { logOf, readLog } from './queries.ts';

const single = { job_id: Id };
const missing = '404 Job Not Found';

export const logRoutes: AnyEndpoint[] = [
  get('/projects/:id/jobs/:job_id/trace', {
    operation: 'getJobTrace',
    summary: 'Get the log of a job, as far as it is there',
    description: 'The log of a job that printed its variables is for Developers.',
    access: pipelinesReader,
    input: {
      ...single,
      last_bytes: optional(Type.Integer({ minimum: 1, description: 'Only so many bytes from the end' })),
    },
    returns: bytes(['text/plain']),
    refusals: { 403: '403 Forbidden', 404: [missing, '404 Not Found'] },
    handle: async ({ project, input, db }) => {
      const job = await jobIn(db, project.id, input.job_id);
      if (!job) throw new ApiError(404, { message: '404 Not Found' });
      const log = await logOf(db, job.id);
      if (log?.debug_trace && project.access_level < levels.developer) throw forbidden();
      const headers = {
        'content-type': 'text/plain; charset=utf-8',
        'content-disposition': `infile; filename="${input.job_id}.log"`,
        'x-content-type-options': 'nosniff',
      };
      const { last_bytes = log?.kept_size ?? 0 } = input;
      return { body: log ? readLog(db, log, log.kept_size - last_bytes) : Readable.from([]), headers };
    },
  }),
  post('/projects/:id/jobs/:job_id/erase', {
    operation: 'eraseJob',
    summary: 'Erase the log of a job that has ended',
    description: 'For Maintainers, and for Developers who started it.',
    access: projectRole('developer', { feature: ['repository', 'builds'] }),
    input: single,
    returns: one(Job),
    refusals: {
      403: ['403 Forbidden', `403 Forbidden - ${notErasableText}`],
      404: missing,
      405: '405 Method Not Allowed',
    },
    handle: async ({ project, caller, input, ...services }) => {
      const { db } = services;
      const job = await jobIn(db, project.id, input.job_id);
      if (!job) throw notAllowed();
      if (project.access_level < levels.maintainer && job.user_id !== caller.id) throw forbidden();
      await eraseJob(db, project.id, job);
      return jobReply(services, project, job.id);
    },
  }),
];
