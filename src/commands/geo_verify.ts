import { verifySoon } from '../areas/geo/replicas/index.ts';
import { type Command, OperatorError } from './command.ts';
import { briefly } from './database.ts';

export const geoVerify: Command = {
  summary: 'Have the repositories and files of Geo verified now',
  help: `On a secondary, every copy is read and compared with the checksum of the primary, and what is wrong is fetched anew. On a primary, the checksums are computed again, and
damage is reported. The server does this in the background, instead of after some days.`,
  options: {},
  run: async (_given, config) => {
    if (config.geo.role === undefined)
      throw new OperatorError('Geo is not set up on this site: COPPICE_GEO_ROLE is not set.');
    await briefly(config, async ({ db }) => {
      console.log(`${await verifySoon({ db, geo: config.geo })} repositories and files will be verified.`);
    });
    return 0;
  },
};
