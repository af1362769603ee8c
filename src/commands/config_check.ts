import type { Command } from './command.ts';

export const configCheck: Command = {
  summary: 'Check the settings without starting anything',
  help: `Prints a sentence for each setting that cannot be used, as \`serve\` would, and exits with code 2. It reads the environment, the files of NAME_FILE and the
file of COPPICE_SIGN_IN with those that it names, and nothing else: whether the database and the mail server can be reached, \`check\` and \`mail test\` tell.`,
  options: {},
  // Every command reads the settings before it runs, and exits with their problems.
  run: async (_given, { url, data, databaseUrl, signIn }) => {
    for (const warning of signIn.warnings) console.log(warning);
    const database = databaseUrl === undefined ? 'with its own database' : 'with the database of COPPICE_DATABASE_URL';
    console.log(
      `The settings can be used: the server would be at ${url}, keep its files in ${data}, and work ${database}.`,
    );
    return 0;
  },
};
