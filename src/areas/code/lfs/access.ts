/** Access to large files, with refusals in the form of LFS (docs/reference/lfs.md). */
import type { FastifyRequest, RouteGenericInterface } from 'fastify';
import {
  basicCaller,
  basicPassword,
  basicRefused,
  callerOfBasic,
  callerOfJobToken,
  callerOfSshKey,
  callerOfTokenNumbered,
  gitScopes,
  isCollaborator,
  levels,
  type MaybeCaller,
  mayJobPush,
  mayRead,
  mayReadCode,
  movedProject,
  type Project,
  projectFor,
  reasonForReadOnly,
} from '../../../access/index.ts';
import { ApiError, type Caller, type Identification, type Services, type Values } from '../../../http/index.ts';
import { type Credential, credentialIn, isCredential, type Operation } from './credential_actions.ts';
import { isLfsEnabled } from './queries.ts';

/** A refusal to an LFS client, which prints the text. */
export const refusal = (status: number, message: string): ApiError => new ApiError(status, { message });
export const notFound = (): ApiError => refusal(404, 'Not found.');
const forbidden = (): ApiError => refusal(403, 'Access forbidden. Check your access level.');

export interface LfsAccess<C extends MaybeCaller = MaybeCaller> {
  project: Project;
  caller: C;
}

/** The caller, authenticated by a token or by the short-lived credential of a batch. */
export interface LfsCaller extends Caller {
  credential?: Credential;
}

interface Wanted {
  /** The full path of the project, possibly a former one. */
  path: string;
  operation: Operation;
}

type Who<R extends RouteGenericInterface> = Identification<LfsCaller, R>;

async function callerOfCredential(services: Services, credential: Credential, address: string): Promise<LfsCaller> {
  const { from } = credential;
  const caller = await basicCaller(services, () =>
    'token_id' in from
      ? callerOfTokenNumbered(services, from.token_id, address)
      : 'job_id' in from
        ? callerOfJobToken(services, from.job_id, [])
        : callerOfSshKey(services, from.ssh_key_id),
  );
  // A download credential does not allow uploads.
  const scopes = [credential.operation === 'upload' ? 'write_repository' : 'read_repository'];
  return { ...caller, token: { ...caller.token, scopes }, credential };
}

/** The caller, authenticated by the token in the password or by the credential issued to an SSH client. Batch credentials are not accepted. */
async function byToken(services: Services, request: FastifyRequest): Promise<LfsCaller | undefined> {
  const password = basicPassword(request);
  if (password === undefined || !isCredential(password)) return callerOfBasic(services, request, { passwords: true });
  const credential = await credentialIn(services.db, password);
  if (!credential || !('ssh_key_id' in credential.from)) throw basicRefused(services.url);
  return callerOfCredential(services, credential, request.ip);
}

/**
 * Authenticates an operation by a token.
 * @param operationIn returns the operation that a request body names
 */
export const lfsCaller = <R extends RouteGenericInterface>(operationIn: (fields: Values) => Operation): Who<R> => ({
  identify: byToken,
  scopes: (_request, fields) => gitScopes[operationIn(fields)],
  insufficient: forbidden,
});

/** As `lfsCaller` for a transfer, which also accepts the credential of its batch. */
export const transferCaller = <R extends RouteGenericInterface>(operation: Operation): Who<R> => ({
  ...lfsCaller<R>(() => operation),
  async identify(services, request) {
    const password = basicPassword(request);
    if (password === undefined || !isCredential(password)) return callerOfBasic(services, request, { passwords: true });
    const credential = await credentialIn(services.db, password);
    if (credential?.operation !== operation) throw basicRefused(services.url);
    return callerOfCredential(services, credential, request.ip);
  },
});

/**
 * Checks that a caller may fetch or store the large files of a project.
 * @throws ApiError 401 with a challenge if credentials are needed, 404 if the project is missing or hidden from the caller, or large files are disabled; 403 if the caller lacks
 *   the right
 */
export async function grantLfs(
  { db, url }: Services,
  caller: LfsCaller | undefined,
  { path, operation }: Wanted,
): Promise<LfsAccess> {
  const project = (await projectFor(db, caller, path)) ?? (await movedProject(db, caller, path));
  if (caller?.credential && caller.credential.project_id !== project?.id) throw basicRefused(url);
  const isHere = project !== undefined && mayRead(caller, project);
  // Callers who may not read the project must not learn that it exists.
  if (!caller && (operation === 'upload' || !isHere || !mayReadCode(project))) throw basicRefused(url);
  if (!isHere || !(await isLfsEnabled(db, project.id))) throw notFound();
  if (!mayReadCode(project)) throw forbidden();
  if (operation === 'upload') {
    const mayPush = project.access_level >= levels.developer || (caller && (await isCollaborator(db, caller, project)));
    if (!mayPush || (caller?.job && !(await mayJobPush(db, caller.job, project.id)))) throw forbidden();
    if (project.read_only) throw refusal(403, reasonForReadOnly(project));
  }
  return { project, caller };
}

/** As `grantLfs` for uploads, which always have a caller. */
export async function grantUpload(
  services: Services,
  caller: LfsCaller | undefined,
  path: string,
): Promise<LfsAccess<Caller>> {
  const { project } = await grantLfs(services, caller, { path, operation: 'upload' });
  if (!caller) throw basicRefused(services.url);
  return { project, caller };
}
