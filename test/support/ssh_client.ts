/**
 * A client for GIT_SSH_COMMAND that understands what git passes to OpenSSH: `-p port`, `-o SendEnv=…`, the user and host, and a command. It takes the private key from the
 * file in SSH_KEY, and expects the host key whose Base64 is in SSH_HOST_KEY.
 */
import { readFileSync } from 'node:fs';
import ssh2 from 'ssh2';

const words = process.argv.slice(2);
let port = 22;
const operands: string[] = [];
while (words.length > 0) {
  const word = words.shift()!;
  if (word === '-p') port = Number(words.shift());
  else if (word === '-o') words.shift();
  else operands.push(word);
}
const [address = '', ...command] = operands;
const [username, host] = address.split('@');
const client = new ssh2.Client();

function end(code: number, text = ''): void {
  process.stderr.write(text);
  process.exitCode = code;
  client.end();
}

// As OpenSSH does.
client.on('connect', () => client.setNoDelay(true));
client.on('error', (error) => end(255, `${error.message}\n`));
client.on('banner', (text) => process.stderr.write(text));
client.on('ready', () => {
  const { GIT_PROTOCOL } = process.env;
  const options = GIT_PROTOCOL ? { env: { GIT_PROTOCOL } } : {};
  const converse = (error: Error | undefined, channel: ssh2.ClientChannel) => {
    if (error) return end(255, `${error.message}\n`);
    process.stdin.pipe(channel);
    channel.pipe(process.stdout);
    channel.stderr.pipe(process.stderr);
    channel.on('exit', (code: number | null) => {
      process.exitCode = code ?? 255;
    });
    channel.on('close', () => {
      process.stdin.destroy();
      client.end();
    });
  };
  if (command.length > 0) client.exec(command.join(' '), options, converse);
  else client.shell(false, options, converse);
});
client.connect({
  host: host!,
  port,
  username: username!,
  privateKey: readFileSync(process.env.SSH_KEY!),
  hostVerifier: (key: Buffer) =>
    process.env.SSH_HOST_KEY === undefined || key.toString('base64') === process.env.SSH_HOST_KEY,
});
