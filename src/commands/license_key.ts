import { publicKeyText } from '../areas/instance/licenses/index.ts';
import { secretsOf } from '../services/index.ts';
import type { Command } from './command.ts';

export const licenseKey: Command = {
  summary: "Print the public key for this server's licenses",
  help: 'Another server accepts these licenses if COPPICE_LICENSE_PUBLIC_KEY is set to this key.',
  options: {},
  run: async (_given, config) => {
    process.stdout.write(publicKeyText(secretsOf(config)));
    return 0;
  },
};
