import { rotateSigningKey } from '../areas/instance/signing_keys/index.ts';
import { secretsOf } from '../services/index.ts';
import type { Command } from './command.ts';
import { briefly } from './database.ts';

export const oauthRotateKey: Command = {
  summary: 'Sign ID tokens with a new key',
  help: 'npm run coppice -- oauth rotate-key\n\nThe server signs with the new key at once. It publishes the former one for a day more, so that tokens that it has signed can be checked.',
  options: {},
  run: async (_given, config) => {
    await briefly(config, ({ db }) => rotateSigningKey(db, secretsOf(config)));
    console.log('ID tokens are signed with a new key. The former one is published for a day more.');
    return 0;
  },
};
