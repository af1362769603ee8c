/** Runs a mirror within its limits, and determines the outcome. */
import { GitError } from '../../../git/index.ts';
import { Ended, type JobCall } from '../../../jobs/index.ts';
import { OutboundError } from '../../../outbound/index.ts';
import { SshRefused } from '../../../ssh/index.ts';
import { loginIn } from './queries.ts';
import { type LargeFileApiFor, type Reach, reaching, reasonFor } from './reaching_actions.ts';
import { keptError } from './rules.ts';

const minute_ms = 60_000;
/** Time limits of a run; the first run may transfer a lot. */
const limits_ms = { first: 180 * minute_ms, later: 60 * minute_ms };

/** The outcome of a run. */
export interface Outcome {
  /** An error message for people: failures and skipped work; null if everything was done. */
  error: string | null;
  /** Whether the other server was reached and the run was not aborted. */
  has_run: boolean;
  /** Whether a retry may succeed. */
  may_repeat: boolean;
  /** The host keys known after the run. */
  host_keys: readonly string[];
}

interface Run {
  /** The columns of the mirror. */
  mirror: {
    url: string;
    login: Buffer | null;
    host_keys: readonly string[];
    may_be_local: boolean;
    last_successful_update_at: string | null;
  };
  most_bytes: number;
}

/** The work of a mirror on a connection to the other server. */
type Work = (
  remote: Parameters<Parameters<typeof reaching>[1]>[0],
  how: { signal: AbortSignal; apiFor: LargeFileApiFor },
) => Promise<Pick<Outcome, 'error' | 'may_repeat'>>;

const isExpected = (error: unknown) =>
  error instanceof GitError || error instanceof OutboundError || error instanceof SshRefused;

/**
 * Runs a mirror.
 * @throws the reason of the call's signal: the process is stopping, and the job returns to the queue
 */
export async function outcomeOf(
  call: Pick<JobCall<unknown>, 'secrets' | 'signal' | 'log'>,
  { mirror, most_bytes }: Run,
  work: Work,
): Promise<Outcome> {
  const { url, host_keys, may_be_local } = mirror;
  const failed = (error: string, may_repeat = true) => ({ error, has_run: false, may_repeat, host_keys });
  const login = loginIn(call.secrets, mirror.login);
  if (!login) return failed('The credentials cannot be decrypted. Set up the mirror again.', false);
  const limit_ms = mirror.last_successful_update_at === null ? limits_ms.first : limits_ms.later;
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(limit_ms)]);
  const reach: Reach = { url, login, host_keys, may_be_local, most_bytes, signal };
  try {
    const { result, host_keys: seen } = await reaching(reach, (remote, apiFor) => work(remote, { signal, apiFor }));
    return { ...result, error: result.error && keptError(result.error, login), has_run: true, host_keys: seen };
  } catch (error) {
    if (call.signal.reason instanceof Ended) return failed(call.signal.reason.message, false);
    call.signal.throwIfAborted();
    if (signal.aborted) return failed(`The run took longer than ${limit_ms / minute_ms} minutes.`);
    if (!isExpected(error)) call.log.error({ err: error }, 'a mirror met an error');
    return failed(reasonFor(error, login));
  }
}
