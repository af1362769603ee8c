/** The door of runners: getting jobs, sending logs and reporting (docs/reference/runner_protocol.md). The callers are no users. */
import type { Server } from 'node:http';
import type { FastifyRequest } from 'fastify';
import {
  ApiError,
  apiRoot,
  badParams,
  badRequest,
  type Caller,
  type DescribedDoor,
  type DoorCall,
  type Doorway,
  door,
  forbidden,
  jsonForm,
  leavingOf,
  stoppingOf,
  wholeBody,
} from '../../../http/index.ts';
import {
  type HeldJob,
  heldJob,
  isHeld,
  noteSeen,
  notRunningText,
  refusedJob,
  statusHeader,
} from '../held_jobs/queries.ts';
import { appendToLog, closeLog, noteResent } from '../logs/actions.ts';
import { sendingInterval } from '../logs/reader_actions.ts';
import { countJobRequest, refuseToken } from '../runners/call_checks.ts';
import { runnerReader } from '../runners/http.ts';
import { touchManager } from '../runners/manager_actions.ts';
import { managerParameters } from '../runners/parameters.ts';
import { type Runner, runnerOf } from '../runners/queries.ts';
import { abilitiesIn } from './ability_rules.ts';
import { endJob } from './end_actions.ts';
import { handOutJob, type JobForRunner } from './handing_out_actions.ts';
import { type FailureReason, reasonOf } from './rules.ts';
import { endWithSuccess, type ReleasePreparation } from './success_actions.ts';
import { type Waiting, waitFor } from './waiting_actions.ts';

interface JobRequest {
  Params: { job_id: string };
  Querystring: Record<string, unknown>;
}
type Call = DoorCall<Caller, JobRequest>;

const answer = ({ reply }: Call, status: number, body: unknown) =>
  reply
    .code(status)
    .headers({ 'content-type': 'application/json', 'cache-control': 'no-store' })
    .send(Buffer.from(JSON.stringify(body)));

const cursorHeader = 'x-gitlab-last-update';

const readRequest = runnerReader(managerParameters);

/** What a runner is answered: a job, or that there is none up to a cursor. */
type Answer = { job: JobForRunner } | { cursor: string };

/** How the request of a runner waits: until its time is over, its client has gone or the server stops, without a slot of the server. */
function waitingOf({ request, reply }: Call, { id, wait_s }: Runner, manager_id: number): Waiting {
  const { slot } = request;
  const ended = AbortSignal.any([
    AbortSignal.timeout(wait_s * 1000),
    leavingOf(reply)(),
    stoppingOf(request.server.server as Server),
  ]);
  return { runner_id: id, manager_id, ended, pause: () => slot?.pause(), resume: async () => slot?.resume() };
}

async function requestJob(call: Call) {
  const { services, request, fields, reply } = call;
  const { token, system_id, info } = readRequest(request, fields);
  const runner = await runnerOf(services, token, system_id);
  if (!runner) return refuseToken(services.db, request.ip, forbidden());
  const manager_id = await touchManager(services, runner, { system_id, info, ip: request.ip });
  await countJobRequest(services.db, manager_id);
  const abilities = abilitiesIn(fields.info);
  const failed = (error: unknown) => request.log.error({ err: error }, 'a job could not be given to a runner');
  const look = async (now: Runner): Promise<Answer | undefined> => {
    // With a cursor that is in force at no time, it asks again at once when it may take jobs.
    if (now.paused) return { cursor: String(Date.now()) };
    const job = await handOutJob(services, now, { manager_id, abilities, failed });
    if (job) return { job };
    return now.cursor === fields.last_update ? undefined : { cursor: now.cursor };
  };
  const lookAgain = async () => {
    const now = await runnerOf(services, token, system_id);
    if (!now) throw forbidden();
    return look(now);
  };
  const waits = fields.last_update === runner.cursor && runner.wait_s > 0 && !runner.paused;
  const found = await (waits ? waitFor(services.db, waitingOf(call, runner, manager_id), lookAgain) : look(runner));
  const answered = found ?? runner;
  if ('job' in answered) return answer(call, 201, answered.job);
  return reply.code(204).header(cursorHeader, answered.cursor).send();
}

const tokenOf = ({ headers, query }: FastifyRequest<JobRequest>, fields: Call['fields']): string => {
  const given = headers['job-token'] ?? fields.token ?? query.token ?? query.job_token;
  return typeof given === 'string' ? given : '';
};

/** @throws ApiError 403 for a token that is not of the job */
async function jobOf({ services, request, fields }: Call): Promise<HeldJob> {
  const { job_id } = request.params;
  const token = tokenOf(request, fields);
  const job = token !== '' && /^\d{1,15}$/.test(job_id) ? await heldJob(services.db, Number(job_id), token) : undefined;
  if (!job) throw refusedJob(notRunningText);
  return job;
}

/** @throws ApiError 403 unless the runner still holds the job */
async function held(call: Call, job: HeldJob): Promise<void> {
  if (job.erased) throw refusedJob('Job has been erased!', job.status);
  if (isHeld(job) && job.builds_disabled) {
    const status = await endJob(call.services.db, job, { status: 'failed', reason: 'builds_disabled' });
    throw refusedJob(notRunningText, status);
  }
  if (!isHeld(job)) throw refusedJob(notRunningText, job.status);
}

const intervalHeader = 'x-gitlab-trace-update-interval';
const maximumPiece_bytes = 4 * 1024 * 1024;
const maximumLog_bytes = 100 * 1024 * 1024;

async function sendLog(call: Call) {
  const { services, request, reply } = call;
  const job = await jobOf(call);
  await held(call, job);
  const [, first] = /^(\d{1,15})-/.exec(String(request.headers['content-range'] ?? '')) ?? [];
  if (first === undefined) throw badRequest('400 Missing header Content-Range');
  const piece = await wholeBody(request, maximumPiece_bytes);
  const start = Number(first);
  if (start + piece.length > maximumLog_bytes) {
    await closeLog(services, job, "\nERROR: Job's log exceeded the limit.\n");
    const status = await endJob(services.db, job, { status: 'failed', reason: 'trace_size_exceeded' });
    throw refusedJob(notRunningText, status);
  }
  const debug_trace = request.query.debug_trace === 'true';
  const size = await appendToLog(services, job, { start, piece, debug_trace });
  if (size === undefined)
    throw new ApiError(
      416,
      { message: '416 Range Not Satisfiable' },
      { range: `0-${job.size}`, [statusHeader]: job.status },
    );
  return reply
    .code(202)
    .headers({ [statusHeader]: job.status, range: `0-${size}`, [intervalHeader]: String(sendingInterval(job.id)) })
    .send();
}

/** What a runner says of the log of a job that has ended. */
interface Output {
  checksum?: unknown;
  bytesize?: unknown;
}

/** Whether the runner says that its log is another one. */
function isOther({ size, crc32 }: HeldJob, output: unknown): boolean {
  const { checksum, bytesize } = (typeof output === 'object' && output !== null ? output : {}) as Output;
  if (typeof bytesize === 'number' && bytesize !== size) return true;
  return typeof checksum === 'string' && /^crc32:/.test(checksum) && Number.parseInt(checksum.slice(6), 16) !== crc32;
}

const wordOf = (status: string) => (status === 'success' || status === 'failed' ? status : undefined);

const reportJob = (prepareRelease: ReleasePreparation) => async (call: Call) => {
  const { services, fields, reply } = call;
  const job = await jobOf(call);
  const { state } = fields;
  if (typeof state !== 'string' || !['pending', 'running', 'success', 'failed'].includes(state))
    throw badParams(state === undefined ? 'state is missing' : 'state does not have a valid value');
  // The answer to the same report may have been lost.
  if (job.ended && job.ended_lately && !job.erased && wordOf(state) === job.status) return answer(call, 200, '200');
  await held(call, job);
  if (state === 'pending' || state === 'running') {
    await noteSeen(services.db, job.id);
    reply.header(statusHeader, job.status);
    return answer(call, 200, '200');
  }
  const differs = isOther(job, fields.output);
  if (differs && !job.was_resent) {
    await noteResent(services.db, job.id);
    throw new ApiError(412, { message: '412 Precondition Failed' });
  }
  await closeLog(services, job, differs ? '\nWARNING: The log is not complete.\n' : '');
  const exit_code = typeof fields.exit_code === 'number' ? fields.exit_code : undefined;
  const reason: FailureReason = reasonOf(fields.failure_reason);
  const status =
    state === 'success'
      ? await endWithSuccess(services, job, prepareRelease)
      : await endJob(services.db, job, { status: 'failed', reason, exit_code });
  reply.header(statusHeader, status);
  return answer(call, 200, '200');
};

const described = { tag: 'Runners', body_types: ['application/json', 'application/x-www-form-urlencoded'] };
const refusedReport = 'The runner does not hold the job, whose state is in the header `Job-Status`';

const declared = [
  {
    method: 'POST',
    path: '/jobs/request',
    description: {
      ...described,
      operation: 'requestJob',
      summary: 'Get a job for a runner',
      description: `Parameters: \`${Object.keys(managerParameters).join('`, `')}\`.`,
      responses: {
        201: 'The job',
        204: 'No job waits that the runner may take; `X-GitLab-Last-Update` has the cursor',
        403: 'There is no such token',
        429: 'More than 120 requests of a machine in a minute, or too many wrong tokens from the address',
      },
    },
  },
  {
    method: 'PUT',
    path: '/jobs/:job_id',
    description: {
      ...described,
      operation: 'reportJob',
      summary: 'Report that a job runs, or how it ended',
      description: 'Parameters: `token`, `state`, `failure_reason`, `exit_code`, `output`.',
      responses: {
        200: 'Noted',
        400: 'Another state',
        403: refusedReport,
        412: 'The log is another one: send it again',
      },
    },
  },
] as const;

const logDoor = {
  method: 'PATCH',
  path: '/jobs/:job_id/trace',
  description: {
    tag: 'Runners',
    body_types: ['text/plain'],
    operation: 'appendToJobLog',
    summary: 'Append to the log of a job',
    description: 'The header `Content-Range` says where the piece belongs.',
    responses: {
      202: 'Stored; `Range` has the size of the log',
      400: '`Content-Range` is missing',
      403: refusedReport,
      413: 'The piece is larger than 4 MiB',
      416: 'The log does not end where the piece begins; `Range` says where',
    },
  },
} as const;

/** The doors of runners, as the documentation of the API shows them. */
export const jobDoors: readonly DescribedDoor[] = [...declared, logDoor].map(({ method, path, description }) => ({
  method,
  path,
  description,
}));

/** @param prepareRelease prepares the releases of jobs that succeed */
export const jobDoorways = (prepareRelease: ReleasePreparation): readonly Doorway[] => [
  {
    cost: 'usual',
    doors: [requestJob, reportJob(prepareRelease)].map((handle, index) => {
      const { method, path } = declared[index]!;
      return door<Caller, JobRequest>({ method, url: apiRoot + path, handle });
    }),
    errors: () => jsonForm,
  },
  {
    cost: 'usual',
    doors: [door<Caller, JobRequest>({ method: 'PATCH', url: apiRoot + logDoor.path, handle: sendLog })],
    errors: () => jsonForm,
    bodies: 'stream',
  },
];
