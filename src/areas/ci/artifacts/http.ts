/** What runners send and fetch: the files of jobs. Files are streamed; nothing is buffered in memory. */
import type { FastifyReply } from 'fastify';
import { durationOf } from '../../../ci_configuration/index.ts';
import {
  apiRoot,
  badParam,
  badParams,
  type Caller,
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

const url = `${apiRoot}/jobs/:id/artifacts`;

export const artifactDoorway: Doorway = {
  cost: 'upload',
  doors: [
    door<Caller, ArtifactRequest>({ method: 'POST', url: `${url}/authorize`, cost: 'usual', handle: authorize }),
    door<Caller, ArtifactRequest>({ method: 'POST', url, handle: receive }),
    door<Caller, ArtifactRequest>({ method: 'GET', url, cost: 'stream', without_head: true, handle: send }),
  ],
  errors: () => jsonForm,
  bodies: 'stream',
};
