/** The SSH protocol: a server with our own commands. */
export { runOverSsh, type SshLogin, SshRefused } from './client.ts';
export { privateKeyText, publicKeyText } from './host_key.ts';
export { type SshCommand, type SshServer, type SshServerOptions, sshServer } from './server.ts';
