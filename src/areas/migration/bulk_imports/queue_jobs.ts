/** The jobs of migrations, for the code that enqueues them. */
import { Id } from '../../../http/index.ts';
import { peerQueueOf, queueOf } from '../../../jobs/index.ts';
import { mailRetries } from '../../../mail/index.ts';

/** The number of steps of one importer that run at the same time. */
export const maximumSteps = 3;

/** Runs a step, or a part of it. */
export const runStep = peerQueueOf('run_bulk_import_step', {
  input: { step_id: Id },
  retries: 5,
  peer: { per_person: maximumSteps },
});

/** Notifies the importer that a migration has ended. */
export const tellOfEnd = queueOf('tell_of_bulk_import_end', { input: { bulk_import_id: Id }, retries: mailRetries });
