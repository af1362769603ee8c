/** Who may fetch and store large files, and the refusals in the form of LFS (repository.md section 8). */
import type { FastifyRequest } from 'fastify';
import {
  basicCaller,
  basicPassword,
  basicRefused,
  callerOfBasic,
  callerOfTokenNumbered,
  gitScopes,
  levels,
  type MaybeCaller,
  mayRead,
  mayReadCode,
  movedProject,
  type Project,
  projectFor,
} from '../../../access/index.ts';
import { ApiError, type Caller, type Services } from '../../../http/index.ts';
import { type Credential, credentialIn, isCredential, type Operation } from './credential_actions.ts';
import { isLfsEnabled } from './queries.ts';

/** A refusal to an LFS client, which shows the text to its user. */
export const refusal = (status: number, message: string): ApiError => new ApiError(status, { message });
export const notFound = (): ApiError => refusal(404, 'Not found.');
export const forbidden = (): ApiError => refusal(403, 'Access forbidden. Check your access level.');

export interface LfsAccess<C extends MaybeCaller = MaybeCaller> {
  project: Project;
  caller: C;
}

interface Wanted {
  /** The full path of the project, also one that it had before. */
  path: string;
  operation: Operation;
  /** Whether the short-lived credential of a batch does; only transfers take it. */
  isTransfer?: boolean;
}

/** The caller of a transfer by the credential of its batch. */
async function callerOfCredential(
  services: Services,
  request: FastifyRequest,
  password: string,
  { operation, isTransfer }: Wanted,
): Promise<{ caller: Caller; credential: Credential }> {
  const credential = isTransfer ? await credentialIn(services.db, password) : undefined;
  if (credential?.operation !== operation) throw basicRefused(services.url);
  const caller = await basicCaller(services, () => callerOfTokenNumbered(services, credential.token_id, request.ip));
  return { caller, credential };
}

/**
 * Whoever may fetch or store the large files of a project.
 * @throws ApiError 401 that asks for credentials, 404 when there is nothing that the caller may know of, or large files are switched off, 403 when he may
 * know of it and not do this
 */
export async function grantLfs(services: Services, request: FastifyRequest, wanted: Wanted): Promise<LfsAccess> {
  const { db, url } = services;
  const password = basicPassword(request);
  const { caller, credential } =
    password !== undefined && isCredential(password)
      ? await callerOfCredential(services, request, password, wanted)
      : { caller: await callerOfBasic(services, request), credential: undefined };
  if (caller && !gitScopes[wanted.operation].some((scope) => caller.token.scopes.includes(scope))) throw forbidden();
  const project = (await projectFor(db, caller, wanted.path)) ?? (await movedProject(db, caller, wanted.path));
  if (credential && credential.project_id !== project?.id) throw basicRefused(url);
  const isHere = project !== undefined && mayRead(caller, project);
  // Whether there is such a project is nobody's business who may not read it.
  if (!caller && (wanted.operation === 'upload' || !isHere || !mayReadCode(project))) throw basicRefused(url);
  if (!isHere || !(await isLfsEnabled(db, project.id))) throw notFound();
  if (!mayReadCode(project)) throw forbidden();
  if (wanted.operation === 'upload' && (project.access_level < levels.developer || project.read_only)) throw forbidden();
  return { project, caller };
}

/** As `grantLfs` for storing, where somebody always calls. */
export async function grantUpload(
  services: Services,
  request: FastifyRequest,
  wanted: Omit<Wanted, 'operation'>,
): Promise<LfsAccess<Caller>> {
  const { project, caller } = await grantLfs(services, request, { ...wanted, operation: 'upload' });
  if (!caller) throw basicRefused(services.url);
  return { project, caller };
}
