import { randomUUID } from 'node:crypto';
import type { Config } from '../config.ts';
import { mailerFor } from '../mail/index.ts';
import { mailFolder } from '../services/index.ts';
import { type Command, OperatorError } from './command.ts';

export const mailTest: Command = {
  summary: 'Send a message, to see whether mail arrives',
  help: 'npm run coppice -- mail test ADDRESS\n\nThe message is sent at once, with the settings of this environment, and without the database.',
  options: {},
  operand: 'ADDRESS',
  run: async (given, config) => {
    const address = given.operand!;
    const mail = {
      to: { address },
      id: `test-${randomUUID()}`,
      subject: 'Mail from Coppice arrives',
      paragraphs: [`This message was sent to test the mail of the server at ${config.url}.`],
    };
    await mailerFor({ smtpUrl: config.smtpUrl, from: config.mailFrom, folder: mailFolder(config) })
      .send(mail)
      .catch((error: Error) => {
        throw new OperatorError(`The message was not sent: ${error.message}.`, { cause: error });
      });
    console.log(sentence(config, address));
    return 0;
  },
};

const sentence = (config: Config, address: string): string =>
  config.smtpUrl === undefined
    ? `The message is a file in ${mailFolder(config)}, because COPPICE_SMTP_URL is not set.`
    : `The mail server has taken the message to ${address}. If it does not arrive, look among unwanted mail there and in the log of the mail server.`;
