/** The chains of audit events: nothing is missing, and nothing was changed. */
import { verifiedChains } from '../areas/instance/audit_events/index.ts';
import type { CheckOptions, Finding } from './finding.ts';

export async function* checkAuditEvents({ db, signal }: CheckOptions): AsyncGenerator<Finding> {
  for await (const { partition, broken_at } of verifiedChains(db, signal))
    if (broken_at !== null)
      yield {
        sentence: `The audit events of ${partition} are not as they were written: the first that is missing or was changed is number ${broken_at}. Compare them with a backup.`,
      };
}
