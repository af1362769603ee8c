import { type VerifiedChain, verifiedChains } from '../areas/instance/audit_events/index.ts';
import type { Command } from './command.ts';
import { briefly } from './database.ts';

const sentenceOf = ({ partition, length, first_at, last_at, last_hash, broken_at }: VerifiedChain): string =>
  broken_at === null
    ? `${partition}: nothing is missing of ${length} events from ${first_at} to ${last_at}; the last hash is ${last_hash}.`
    : `${partition}: event number ${broken_at} of ${length} from ${first_at} to ${last_at} is missing, or was changed.`;

export const auditVerify: Command = {
  summary: 'Verify that no audit event is missing or was changed',
  help: `npm run coppice -- audit verify

Computes the hashes of all audit events again, month by month, and says from when to when nothing is missing. Who can
write to the database can write a chain anew: keep the last hashes that this prints elsewhere, and compare them later.
The exit code is 1 if an event is missing or was changed.`,
  options: {},
  run: async (_given, config) => {
    let is_broken = false;
    await briefly(config, async ({ db }) => {
      let is_empty = true;
      for await (const chain of verifiedChains(db, new AbortController().signal)) {
        is_empty = false;
        is_broken ||= chain.broken_at !== null;
        console.log(sentenceOf(chain));
      }
      if (is_empty) console.log('There are no audit events yet.');
    });
    return is_broken ? 1 : 0;
  },
};
