import { followingOf } from '../areas/geo/following/index.ts';
import { copiesBehind, isPrimaryAlive, obstacleTo, promote } from '../areas/geo/promotion/index.ts';
import type { Database } from '../db/index.ts';
import { secretsOf } from '../services/index.ts';
import { type Command, OperatorError } from './command.ts';
import { briefly } from './database.ts';

const words = (replicable: string) => replicable.replaceAll('_', ' ');

async function printCopies(db: Database): Promise<void> {
  const [behind, following] = [await copiesBehind(db), await followingOf(db)];
  console.log(
    `The database is as it was on the primary at ${following?.caught_up_at ?? 'an unknown time'}. Later changes and pushes there are not known here.`,
  );
  if (behind.length === 0) console.log('All repositories and files that it knows of are as they were then.');
  for (const { replicable, count } of behind) console.log(`${count} ${words(replicable)} are not as they were then.`);
}

export const geoPromote: Command = {
  summary: 'Make this secondary of Geo the primary',
  help: `Ends the following of the old primary, makes this site the primary and disables the node of the old one. A server that runs becomes the primary by itself within seconds;
one that is started later is it, whatever COPPICE_GEO_ROLE says. What has not been copied from the old primary is listed.

Options
  --dry-run   only lists what has not been copied
  --force     promotes although the primary answers`,
  options: { 'dry-run': { type: 'boolean' }, force: { type: 'boolean' } },
  run: async ({ switches }, config) => {
    await briefly(config, async ({ db }) => {
      const services = { db, geo: config.geo, secrets: secretsOf(config) };
      const obstacle = await obstacleTo(services);
      if (obstacle !== undefined) throw new OperatorError(obstacle);
      await printCopies(db);
      if (switches['dry-run']) return;
      if (!switches.force && (await isPrimaryAlive(services)))
        throw new OperatorError('The primary answers. Stop it first, or use --force.');
      await promote(services);
      console.log(
        `${config.geo.nodeName} is the primary. Point the other secondaries to it with COPPICE_GEO_PRIMARY_URL.`,
      );
    });
    return 0;
  },
};
