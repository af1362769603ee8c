import { publicKeyText } from '../areas/instance/licenses/index.ts';
import { secretsOf } from '../services/index.ts';
import type { Command } from './command.ts';

export const licenseKey: Command = {
  summary: 'Print the public key of the licences that this server issues',
  help: 'Another server trusts them when it is given this key as COPPICE_LICENSE_PUBLIC_KEY.',
  options: {},
  run: async (_given, config) => {
    process.stdout.write(publicKeyText(secretsOf(config)));
    return 0;
  },
};
