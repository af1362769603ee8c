import { problemsOfDatabase } from '../areas/geo/following/index.ts';
import { problemsOfLink } from '../areas/geo/link/index.ts';
import type { Config } from '../config.ts';
import { secretsOf } from '../services/index.ts';
import type { Command } from './command.ts';
import { briefly } from './database.ts';

export const geoCheck: Command = {
  summary: 'Check that this site and the others of Geo can work together',
  help: `Prints a sentence for each thing that is wrong. On a secondary: the address of the primary, the secret key, the node, the version, the clock, and how the database
follows. On a primary: its database, and the secondaries that are not connected to it. The exit code is 0 if nothing is wrong, otherwise 1.`,
  options: {},
  run: async (_given, config) => {
    const problems = await problemsOf(config);
    for (const problem of problems) console.log(problem);
    if (problems.length === 0) console.log('No problems found.');
    return problems.length === 0 ? 0 : 1;
  },
};

async function problemsOf(config: Config): Promise<string[]> {
  const { geo } = config;
  if (geo.role === undefined) return ['Geo is not set up on this site: COPPICE_GEO_ROLE is not set.'];
  const link = geo.role === 'secondary' ? await problemsOfLink({ geo, secrets: secretsOf(config) }) : [];
  const database = await briefly(config, ({ db }) => problemsOfDatabase({ db, geo }));
  return [...new Set([...link, ...database])];
}
