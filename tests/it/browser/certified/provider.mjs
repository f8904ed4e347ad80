// Starts the certified provider of the npm package `oidc-provider` on a free port. Prints its URL, reads the URL of the server from
// standard input, and prints `ready`. Any name and password sign in; the name is the id of the account and its email address.

import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import * as oidc from 'oidc-provider';

const Provider = oidc.Provider ?? oidc.default;
let handle = (request, response) => response.writeHead(503).end();
const server = createServer((request, response) => handle(request, response));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;
console.log(issuer);

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { value: dashboard } = await lines.next();
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'dashboard',
      client_secret: 'a client secret',
      redirect_uris: [`${dashboard}/sign-in/provider/callback`],
      post_logout_redirect_uris: [`${dashboard}/login`],
      response_types: ['code'],
      grant_types: ['authorization_code'],
    },
  ],
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
  findAccount: (context, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: id, email_verified: true }),
  }),
  features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true } },
  pkce: { required: () => true },
  cookies: { keys: ['a key of a test'] },
});
handle = provider.callback();
console.log('ready');

// The test closes standard input when it ends.
await lines.next();
process.exit();
