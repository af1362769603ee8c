/** Fetching repositories of the source over HTTP, with the rights of the importer there. */
import { inAddress } from '../../../../foundation/addresses.ts';
import { type FetchedRefs, fetchForeign, GitError, type Repository } from '../../../../git/index.ts';
import { BlockedError, OutboundError, ResponseTooLong, throughProxy } from '../../../../outbound/index.ts';
import { downloadLimit } from '../source/export_queries.ts';
import { checkRepository, SourceFailure, sentence, Unanswered } from '../source/queries.ts';
import { type StepCall, StepFailed, type StepFailure } from '../step_definition.ts';

export const maximumFetch_ms = 6 * 3600_000;
/** A broken connection is indistinguishable from a damaged repository. */
const maximumTries = 3;

/** The address of an entity's repository. @param suffix `.wiki` for its wiki */
export const repositoryAt = ({ source, entity }: StepCall, suffix = ''): string =>
  `${source.url}/${inAddress(entity.source_full_path)}${suffix}.git`;

function failureFor(call: StepCall, error: unknown): unknown {
  if (error instanceof ResponseTooLong) return new SourceFailure('LimitExceeded', sentence(error.message));
  if (error instanceof BlockedError) return new SourceFailure('NetworkError', sentence(error.message));
  if (error instanceof OutboundError) return new Unanswered(sentence(error.message));
  if (!(error instanceof GitError) || call.signal.aborted) return error;
  if (call.step.tries + 1 < maximumTries) return new Unanswered('The source does not give the repository.');
  call.log.error({ err: error }, 'a repository of a migration cannot be read');
  return new StepFailed('InvalidContent', 'The repository cannot be read.', 'extractor');
}

/**
 * Fetches a repository of the source into one here.
 * @param target has no refs, or was partly filled by an earlier run
 * @throws Unanswered, SourceFailure with the status when the source refuses, StepFailed
 */
export async function fetchFromSource(call: StepCall, url: string, target: Repository): Promise<FetchedRefs> {
  const { source, signal } = call;
  const credential = { username: 'oauth2', password: source.token };
  // git reports the reason for a refusal only as text that we cannot parse.
  await checkRepository(source, url, credential);
  const rules = { url, may_be_local: source.may_be_local, most_bytes: await downloadLimit(call) };
  try {
    return await throughProxy(rules, (proxy_url) =>
      fetchForeign({ url, proxy_url, credential }, target, { timeout_ms: maximumFetch_ms, signal }),
    );
  } catch (error) {
    throw failureFor(call, error);
  }
}

/** The failures for a repository if some of its refs were skipped. */
export const skippedRefs = (relation: string, skipped: number): StepFailure[] =>
  skipped === 0
    ? []
    : [
        {
          relation,
          step: 'loader',
          exception_class: 'InvalidRecord',
          title: null,
          url: null,
          message: `${skipped} refs have names, or point to objects, that are not allowed here.`,
        },
      ];
