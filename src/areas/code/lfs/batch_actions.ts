/** The batch request: a client names the large files to download or upload, and receives their URLs. */
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { inAddress } from '../../../foundation/addresses.ts';
import type { Caller, Services } from '../../../http/index.ts';
import { type LfsAccess, notFound, refusal } from './access.ts';
import { lifetime_s, type Operation, signed } from './credential_actions.ts';
import { objectsOf } from './queries.ts';
import { isOid, type LfsFile, maximumBatch } from './rules.ts';

const BatchRequest = Type.Object({
  operation: Type.Enum(['download', 'upload']),
  hash_algo: Type.Optional(Type.String()),
  objects: Type.Array(Type.Object({ oid: Type.String(), size: Type.Number() })),
});

interface Action {
  href: string;
  header: Record<string, string>;
  expires_in: number;
}

interface BatchObject extends LfsFile {
  authenticated?: true;
  actions?: { download?: Action; upload?: Action; verify?: Action };
  error?: { code: number; message: string };
}

/** @throws ApiError 404 for a request without objects, 409 for a digest other than SHA-256, 413 for too many objects, 422 for any other invalid request */
function readBatch(body: Record<string, unknown>): Static<typeof BatchRequest> {
  if (!Array.isArray(body.objects) || body.objects.length === 0) throw notFound();
  if (body.objects.length > maximumBatch) throw refusal(413, `A batch may have at most ${maximumBatch} objects.`);
  if (!Check(BatchRequest, body)) throw refusal(422, 'The request is not a batch of an operation and its objects.');
  if ((body.hash_algo ?? 'sha256') !== 'sha256') throw refusal(409, 'Objects are named by their SHA-256.');
  return body;
}

/** The requested operation, which decides on access. */
export const operationIn = (body: Record<string, unknown>): Operation =>
  body.operation === 'upload' ? 'upload' : 'download';

/**
 * The authorization header for one operation on the large files of a project, valid for half an hour.
 * @returns an empty object for anonymous callers, who need no authentication
 */
async function authorization(
  { db }: Pick<Services, 'db'>,
  { project, caller }: LfsAccess,
  operation: Operation,
): Promise<Record<string, string>> {
  if (!caller) return {};
  const expires_at_ms = Date.now() + lifetime_s * 1000;
  const { id, kind } = caller.token;
  // The client has the password, and sends it for each file.
  if (kind === 'password') return {};
  const from = kind === 'ssh_key' ? { ssh_key_id: id } : kind === 'job' ? { job_id: id } : { token_id: id };
  const password = await signed(db, { from, project_id: project.id, operation, expires_at_ms });
  return { Authorization: `Basic ${Buffer.from(`lfs:${password}`).toString('base64')}` };
}

type Actions = (object: LfsFile) => Required<Required<BatchObject>['actions']>;

function actionsFor({ url }: Services, full_path: string, header: Record<string, string>): Actions {
  const place = `${url}/${inAddress(full_path)}.git`;
  const action = (path: string, more = {}): Action => ({
    href: `${place}/${path}`,
    header: { ...header, ...more },
    expires_in: lifetime_s,
  });
  const uploading = { 'Content-Type': 'application/octet-stream', 'Transfer-Encoding': 'chunked' };
  return ({ oid, size }) => ({
    download: action(`gitlab-lfs/objects/${oid}`),
    upload: action(`gitlab-lfs/objects/${oid}/${size}`, uploading),
    verify: action('info/lfs/objects/verify'),
  });
}

const isObject = ({ oid, size }: LfsFile) => isOid(oid) && Number.isSafeInteger(size) && size >= 0;

const absent = { code: 404, message: "Object does not exist on the server or you don't have permissions to access it" };
const misnamed = { code: 422, message: 'An object has a SHA-256 in lower case and a size in bytes.' };

/**
 * The reply to a batch request.
 * @throws ApiError as `readBatch`
 */
export async function answerBatch(
  services: Services,
  access: LfsAccess,
  body: Record<string, unknown>,
): Promise<{ transfer: 'basic'; objects: BatchObject[] }> {
  const { operation, objects } = readBatch(body);
  const oids = objects.filter(isObject).map(({ oid }) => oid);
  const known = new Map((await objectsOf(services.db, access.project.id, oids)).map((object) => [object.oid, object]));
  const header = await authorization(services, access, operation);
  const actionsOf = actionsFor(services, access.project.full_path, header);
  const authenticated = access.caller ? ({ authenticated: true } as const) : {};
  return {
    transfer: 'basic',
    objects: objects.map(({ oid, size }): BatchObject => {
      if (!isObject({ oid, size })) return { oid, size, error: misnamed };
      const stored = known.get(oid);
      if (operation === 'download') {
        if (!stored) return { oid, size, error: absent };
        return { ...stored, ...authenticated, actions: { download: actionsOf(stored).download } };
      }
      if (stored) return stored;
      const { upload, verify } = actionsOf({ oid, size });
      return { oid, size, ...authenticated, actions: { upload, verify } };
    }),
  };
}

/** The credentials for the batch API for a client that connects over SSH, in the format of `git-lfs-authenticate`. */
export async function sshCredential(services: Services, granted: LfsAccess<Caller>, operation: Operation) {
  const header = await authorization(services, granted, operation);
  return {
    href: `${services.url}/${inAddress(granted.project.full_path)}.git/info/lfs`,
    header,
    expires_in: lifetime_s,
  };
}
