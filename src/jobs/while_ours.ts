/** Work of a job on a row, which another run of the job can take over. */

/** What a run works for has ended meanwhile: it was deleted, canceled or changed. */
export class Ended extends Error {
  override name = 'Ended';
}

export interface Claim {
  /** How often it is asked. */
  every_ms: number;
  /** Throws when another run has taken over. */
  confirm(): Promise<void>;
}

/**
 * Works until it is done, or until a claim cannot be confirmed any more.
 * @param signal ends the work as well
 * @throws what `confirm` throws, also when the database cannot answer it, and what the work throws
 */
export async function whileOurs<T>(
  { every_ms, confirm }: Claim,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const timer = setInterval(() => {
    confirm().catch((error) => own.abort(error));
  }, every_ms);
  try {
    return await work(AbortSignal.any([signal, own.signal]));
  } catch (error) {
    throw own.signal.aborted ? own.signal.reason : error;
  } finally {
    clearInterval(timer);
  }
}
