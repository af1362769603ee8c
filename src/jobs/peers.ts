/**
 * Jobs that talk to a remote system, which may be slow or hostile: each user has a limited number of places for them, a run ends when its subject is gone, and other
 * jobs never wait for them (docs/decisions/0132-jobs-with-a-peer-have-places-of-their-own.md).
 */
import type { Static, TObject, TProperties } from 'typebox';
import type { Database } from '../db/index.ts';
import { type Declaration, type EnqueueOptions, type Job, type JobCall, type PeerRules, queueOf } from './job.ts';
import { Ended, whileOurs } from './while_ours.ts';

/** How often a run checks that its subject still exists. */
const confirm_ms = 2000;

/** The owner of a job with a peer. */
export interface PeerOptions extends Omit<EnqueueOptions, 'queue'> {
  /** The id of the user; null for jobs whose user was deleted, which share the places of one user. */
  person: number | null;
  /** Jobs with the same subject never run concurrently, e.g. the id of a mirror. */
  id: number;
  /** Fewer places than the rules allow. */
  per_person?: number;
}

interface PeerQueue<P extends TProperties> {
  /** Adds the job to the queue of its person. @param tx the transaction that needs the job */
  enqueue(tx: Database, input: Static<TObject<P>>, options: PeerOptions): Promise<void>;
  /**
   * A job, for the code that runs it.
   * @param confirm throws `Ended` when the subject of the run is gone or changed: the run's signal fires then
   */
  runBy(work: {
    confirm(call: JobCall<Static<TObject<P>>>): Promise<void>;
    run(call: JobCall<Static<TObject<P>>>): Promise<void>;
  }): Job<Static<TObject<P>>>;
}

/**
 * Declares how to enqueue a job that talks to a remote system.
 * @param name never changes, because rows in the queue contain it
 */
export function peerQueueOf<P extends TProperties>(
  name: string,
  { peer, ...declaration }: Pick<Declaration<P>, 'input' | 'retries'> & { peer: PeerRules },
): PeerQueue<P> {
  const queue = queueOf(name, declaration);
  return {
    enqueue: (tx, input, { person, id, per_person = peer.per_person, ...options }) =>
      queue.enqueue(tx, input, { ...options, queue: `${name}_of_${person ?? 'none'}_${id % per_person}` }),
    runBy: ({ confirm, run }) => ({
      ...queue.runBy(async (call) => {
        const claim = { every_ms: confirm_ms, confirm: () => confirm(call) };
        try {
          await whileOurs(claim, call.signal, (signal) => run({ ...call, signal }));
        } catch (error) {
          if (!(error instanceof Ended)) throw error;
          call.log.info({ reason: error.message }, 'a run has ended with what it was for');
        }
      }),
      peer,
    }),
  };
}
