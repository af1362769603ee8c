/** The checks at the source before a migration is accepted (docs/reference/bulk_imports.md#checks). */
import { LimitExceeded } from '../../../../archives/index.ts';
import { ApiError } from '../../../../http/index.ts';
import { BlockedError, OutboundError, urlReasons } from '../../../../outbound/index.ts';
import type { NewEntity } from '../definition.ts';
import { answerOf, isRecord, pathAtSource, type Source } from './queries.ts';

export const checkTexts = {
  blocked: (reason: string) => `Import failed. The URL is blocked: ${reason}`,
  url: 'Invalid source URL. Enter only the base URL of the source GitLab instance.',
  version: 'Unsupported GitLab version. Minimum supported version is 14.',
  token: 'Check that the source instance base URL and the personal access token meet the necessary requirements.',
  missing: (path: string) => `Import failed. '${path}' not found.`,
  disabled:
    'Migration by direct transfer disabled on source or destination instance. Ask an administrator to enable it on both instances and try again.',
  notExportable: (path: string) => `Import failed. You don't have permission to export '${path}'.`,
};

export const refused = (text: string) => new ApiError(422, { message: text });

const oldestMajor = 14;
const eachCall_ms = 5000;
const allCalls_ms = 15_000;
const callsAtOnce = 4;

/**
 * The address of a source as it is stored: scheme, host, port and path.
 * @throws ApiError 422
 */
export function sourceUrl(given: string, mayBeLocal: boolean): string {
  const [reason] = urlReasons(given, mayBeLocal);
  if (reason !== undefined) throw refused(checkTexts.blocked(reason.replace('is blocked: ', '')));
  const url = new URL(given);
  const isBase = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isBase) throw refused(checkTexts.url);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** @throws ApiError 422 if the source does not answer, or its address is not allowed */
async function answered(source: Source, path: string, query = {}) {
  try {
    return await answerOf(source, path, query);
  } catch (error) {
    if (error instanceof BlockedError) throw refused(checkTexts.blocked(error.message));
    if (error instanceof OutboundError || error instanceof LimitExceeded || source.signal.aborted)
      throw refused(checkTexts.url);
    throw error;
  }
}

const isUnauthorized = (status: number) => status === 401 || status === 403;

/** @returns the version of the source, e.g. `18.5.0-ee` */
async function versionOf(source: Source): Promise<string> {
  for (const path of ['/version', '/metadata']) {
    const { status, value } = await answered(source, path);
    if (isUnauthorized(status)) throw refused(checkTexts.token);
    if (status !== 200 || !isRecord(value) || typeof value.version !== 'string') continue;
    const major = /^(\d{1,4})\.\d/.exec(value.version)?.[1];
    if (major === undefined) continue;
    if (Number(major) < oldestMajor) throw refused(checkTexts.version);
    return value.version.slice(0, 255);
  }
  throw refused(checkTexts.url);
}

async function checkToken(source: Source): Promise<void> {
  const { status, value } = await answered(source, '/personal_access_tokens/self');
  if (status === 404) return;
  const isUsable =
    status === 200 &&
    isRecord(value) &&
    value.revoked !== true &&
    value.active !== false &&
    Array.isArray(value.scopes) &&
    value.scopes.includes('api');
  if (!isUsable) throw refused(checkTexts.token);
}

async function checkEntity(source: Source, entity: NewEntity): Promise<void> {
  const path = pathAtSource(entity);
  const { status, value } = await answered(source, path, { with_projects: false });
  if (status !== 200 || !isRecord(value)) throw refused(checkTexts.missing(entity.source_full_path));
  const exported = await answered(source, `${path}/export_relations/status`);
  if (exported.status === 403) throw refused(checkTexts.notExportable(entity.source_full_path));
  if (exported.status !== 200) throw refused(checkTexts.disabled);
}

/**
 * Checks that the source lets the importer read every entity.
 * @param check an additional check of each entity, after the ones at the source
 * @returns the version of the source
 * @throws ApiError 422 with the first refusal, in the order of the entities
 */
export async function checkSource(
  access: Pick<Source, 'url' | 'token' | 'may_be_local' | 'user_id'>,
  entities: readonly NewEntity[],
  check: (entity: NewEntity) => Promise<void>,
): Promise<string> {
  const source: Source = { ...access, silence_ms: eachCall_ms, signal: AbortSignal.timeout(allCalls_ms) };
  const version = await versionOf(source);
  await checkToken(source);
  for (let first = 0; first < entities.length; first += callsAtOnce) {
    const some = entities.slice(first, first + callsAtOnce);
    const outcomes = await Promise.allSettled(some.map((entity) => checkEntity(source, entity)));
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === 'rejected') throw outcome.reason;
      await check(some[index]!);
    }
  }
  return version;
}
