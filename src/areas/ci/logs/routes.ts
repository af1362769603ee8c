/** Reading and erasing logs of jobs (docs/reference/job_logs.md). */
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { levels, projectRole } from '../../../access/index.ts';
import type { ByteRange } from '../../../blobs/index.ts';
import {
  type AnyEndpoint,
  ApiError,
  forbidden,
  get,
  Id,
  notAllowed,
  one,
  optional,
  post,
  readableReply,
  storedFile,
} from '../../../http/index.ts';
import { Job, jobReply } from '../../code/jobs/index.ts';
import { isFinal, pipelinesReader } from '../../code/pipelines/index.ts';
import { jobIn } from '../running/queries.ts';
import { eraseJob, notErasableText } from './erasing_actions.ts';
import { logOf, readLog } from './queries.ts';
import { noteReader } from './reader_actions.ts';

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
    returns: storedFile(['text/plain'], { 'Content-Range': 'The part that was requested' }),
    refusals: { 403: '403 Forbidden', 404: [missing, '404 Not Found'], 416: '416 Range Not Satisfiable' },
    handle: async ({ project, input, reading, db, blobs }) => {
      const job = await jobIn(db, project.id, input.job_id);
      if (!job) throw new ApiError(404, { message: '404 Not Found' });
      const log = await logOf(db, job.id);
      if (log?.debug_trace && project.access_level < levels.developer) throw forbidden();
      if (!isFinal(job.status)) noteReader(job.id);
      const { kept_size = 0 } = log ?? {};
      const from = kept_size - Math.min(input.last_bytes ?? kept_size, kept_size);
      const read = async (range: ByteRange = { start: 0, end: kept_size - from - 1 }) =>
        log ? readLog({ db, blobs }, log, { start: from + range.start, end: from + range.end }) : Readable.from([]);
      const etag = log?.sha256 && from === 0 ? { etag: log.sha256 } : {};
      return readableReply({ size_bytes: kept_size - from, read, ...etag }, reading, {
        'content-type': 'text/plain; charset=utf-8',
        'content-disposition': `infile; filename="${input.job_id}.log"`,
        'x-content-type-options': 'nosniff',
      });
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
      await eraseJob(services, project.id, job);
      return jobReply(services, project, job.id);
    },
  }),
];
