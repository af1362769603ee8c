/** What runners send and fetch: the files of jobs. Files are streamed; nothing is buffered in memory. */
import type { FastifyReply } from 'fastify';
import { durationOf } from '../../../ci_configuration/index.ts';
import {
  apiRoot,
  badParam,
  badParams,
  type Caller,
  type DescribedDoor,
  type DoorCall,
  type Doorway,
  door,
  fileReply,
  forbidden,
  found,
  idIn,
  jsonForm,
  type Reading,
  readWithFiles,
  streamOf,
  tooLarge,
  type UploadedFile,
  type Values,
} from '../../../http/index.ts';
import { disposition } from '../../code/repository/index.ts';
import { jobOfToken, type RunningJob } from '../held_jobs/queries.ts';
import { isDependency } from './access.ts';
import { artifactIn, mostBytes } from './queries.ts';
import { type FileType, type Format, fileTypes, fits, formats } from './rules.ts';
import { type SentArtifact, storeArtifact } from './upload_actions.ts';

interface ArtifactRequest {
  Params: { id: string };
  Querystring: Record<string, unknown>;
}
type Call = DoorCall<Caller, ArtifactRequest>;

/** @throws ApiError 403 without a token of a job that runs */
async function holderOf({ request, services }: Call): Promise<RunningJob> {
  const token = request.headers['job-token'] ?? request.query.token ?? request.query.job_token;
  if (typeof token !== 'string') throw forbidden();
  return jobOfToken(services.db, token);
}

/** @throws ApiError 403 unless the token is of the job in the path */
async function heldJob(call: Call): Promise<RunningJob> {
  const job = await holderOf(call);
  if (job.id !== idIn(call.request.params.id)) throw forbidden();
  return job;
}

/** Tells which size is allowed, before a file is sent. */
async function authorize(call: Call): Promise<FastifyReply> {
  const job = await heldJob(call);
  const most_bytes = await mostBytes(call.services.db, job.project_id);
  if (Number(call.request.query.filesize) > most_bytes) throw tooLarge();
  return call.reply.send({ MaximumSize: most_bytes });
}

/** A parameter of the query, or of a part of the body before or after the file. */
function textIn(call: Call, fields: Values, name: string): string | undefined {
  const value = call.request.query[name] ?? fields[name];
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw badParam(name, 'is invalid');
  return value;
}

/** @throws ApiError 400 */
function chosenIn<T extends string>(given: string | undefined, name: string, known: readonly T[], usual: T): T {
  const value = known.find((each) => each === (given ?? usual));
  if (value === undefined) throw badParam(name, 'does not have a valid value');
  return value;
}

/** @throws ApiError 400 */
function sentIn(call: Call, fields: Values, file: UploadedFile): SentArtifact {
  const file_type: FileType = chosenIn(textIn(call, fields, 'artifact_type'), 'artifact_type', fileTypes, 'archive');
  const file_format: Format = chosenIn(textIn(call, fields, 'artifact_format'), 'artifact_format', formats, 'zip');
  if (!fits(file_type, file_format)) throw badParam('artifact_format', 'does not have a valid value');
  const expire_in = textIn(call, fields, 'expire_in');
  if (expire_in !== undefined && expire_in !== 'never' && durationOf(expire_in) === undefined)
    throw badParam('expire_in', 'is invalid');
  return { file_type, file_format, expire_in, file };
}

async function receive(call: Call): Promise<FastifyReply> {
  const { services, request, reply } = call;
  const job = await heldJob(call);
  const at_most_bytes = await mostBytes(services.db, job.project_id);
  const { fields, files } = await readWithFiles(request.headers, streamOf(request), {
    files: [{ name: 'file', kind: 'job_artifacts', at_most_bytes }],
    blobs: services.blobs,
  });
  const [file] = files;
  if (!file) throw badParams('file is missing');
  try {
    await storeArtifact(services, job, sentIn(call, fields, file));
  } finally {
    await file.discard();
  }
  return reply.code(201).send({ message: '201 Created' });
}

async function send(call: Call): Promise<FastifyReply> {
  const { services, request, reply } = call;
  const holder = await holderOf(call);
  const job_id = found(undefined, idIn(request.params.id));
  if (!(await isDependency(services.db, holder, job_id))) throw forbidden();
  const { blob_key, size_bytes, filename } = found(undefined, await artifactIn(services.db, job_id, 'archive'));
  const { status, headers, body } = await fileReply(
    services.blobs,
    { key: blob_key, size_bytes },
    request.headers as Reading,
    { 'content-type': 'application/zip', 'content-disposition': disposition('attachment', filename) },
  );
  return reply.code(status).headers(headers).send(body);
}

const path = '/jobs/:id/artifacts';
const common = { tag: 'Runners', text_parameters: ['id'], body_types: [] } as const;
const refusedText =
  '`403 Forbidden`: the token is of another job; `403 Forbidden - Job is not running`, with `Job-Status`';

const doors = [
  {
    method: 'POST',
    path: `${path}/authorize`,
    cost: 'usual',
    handle: authorize,
    description: {
      ...{ ...common, operation: 'authorizeJobArtifact', summary: 'Get how large a file of a job may be' },
      description: 'Runners may ask before they send it.',
      query_parameters: ['token', 'filesize'],
      responses: { 200: '`MaximumSize`, in bytes', 403: refusedText, 413: '`413 Request Entity Too Large`' },
    },
  },
  {
    method: 'POST',
    path,
    cost: 'upload',
    handle: receive,
    description: {
      ...{ ...common, operation: 'uploadJobArtifact', summary: 'Send a file of a job' },
      description: 'The parameters are in the query, or in parts of the form before or after `file`.',
      query_parameters: ['token', 'artifact_type', 'artifact_format', 'expire_in'],
      body_types: ['multipart/form-data'],
      responses: {
        201: 'It is stored, or was before',
        400: 'A parameter, the archive or the report is wrong',
        403: refusedText,
        409: '`409 Conflict`: another file of that type is there',
        413: '`413 Request Entity Too Large`',
      },
    },
  },
  {
    method: 'GET',
    path,
    cost: 'stream',
    without_head: true,
    handle: send,
    description: {
      ...{ ...common, operation: 'downloadJobArtifact', summary: 'Get the archive of a job for a job that uses it' },
      description: 'The token is that of the job itself, or of a job that gets files from it.',
      query_parameters: ['token'],
      responses: {
        200: 'The archive',
        206: 'The part that was requested',
        403: refusedText,
        404: '`404 Not found`: there is none',
        416: '`416 Range Not Satisfiable`',
      },
    },
  },
] as const;

/** The doors of runners for files, as the documentation of the API shows them. */
export const artifactDoors: readonly DescribedDoor[] = doors.map(({ method, path: at, description }) => ({
  method,
  path: at,
  description,
}));

export const artifactDoorway: Doorway = {
  cost: 'upload',
  doors: doors.map(({ method, path: at, cost, handle, ...rest }) =>
    door<Caller, ArtifactRequest>({
      ...{ method, url: apiRoot + at, cost, handle },
      ...('without_head' in rest && { without_head: rest.without_head }),
    }),
  ),
  errors: () => jsonForm,
  bodies: 'stream',
};
