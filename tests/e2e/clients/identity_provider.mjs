// A real OpenID provider on a free port: node identity_provider.mjs REDIRECT_URI. Prints its issuer.
import { createServer } from "node:http";
import Provider from "oidc-provider";

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "hub",
        token_endpoint_auth_method: "none",
        redirect_uris: [process.argv[2]],
        grant_types: ["authorization_code"],
        response_types: ["code"],
      },
    ],
    pkce: { required: () => true },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  });
  server.on("request", provider.callback());
  console.log(issuer);
});
