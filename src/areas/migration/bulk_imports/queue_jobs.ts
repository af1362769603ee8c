/** The jobs of migrations, for the code that enqueues them. */
import { Id } from '../../../http/index.ts';
import { queueOf } from '../../../jobs/index.ts';
import { mailRetries } from '../../../mail/index.ts';

/** Does a step, or a part of it. */
export const runStep = queueOf('run_bulk_import_step', { input: { step_id: Id }, retries: 5 });

/** Tells the importer that a migration has ended. */
export const tellOfEnd = queueOf('tell_of_bulk_import_end', { input: { bulk_import_id: Id }, retries: mailRetries });
