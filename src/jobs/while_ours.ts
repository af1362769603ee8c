/** Work of a job on a claimed row, whose claim another run of the job can take over. */

/** The subject of a run has ended meanwhile: it was deleted, canceled or changed. */
export class Ended extends Error {
  override name = 'Ended';
}

export interface Claim {
  /** How often the claim is confirmed. */
  every_ms: number;
  /** Throws when another run has taken over the claim. */
  confirm(): Promise<void>;
}

/**
 * Runs the work until it is done, or until the claim can no longer be confirmed.
 * @param signal ends the work as well
 * @throws errors of `confirm`, including errors of the database, and errors of the work
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
