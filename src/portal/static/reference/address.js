// The address of the API: calls go through the public URL, whose path a proxy removes before the server sees it. No calls can be sent
// to an API at another address.

const { prefix, platformElsewhere } = document.body.dataset;
const { operations } = document.getElementById("reference").dataset;

/** Whether this is the reference of the first contract, the one of the keys of a workspace. */
export const isFirstContract = operations === "/docs/operations/";

/** A note for the reference of an API that this server has at another address. Otherwise null. */
export const elsewhereNote =
  platformElsewhere !== undefined && !isFirstContract ? "The Platform API of this server has its own address." : null;

/** Returns whether the API is at another address than this page. */
export function isElsewhere(url) {
  return new URL(url, location.href).origin !== location.origin;
}

export const address = ({ React }) => ({
  wrapComponents: {
    execute: (Original) => (properties) =>
      elsewhereNote ? React.createElement("p", { className: "execute-note" }, elsewhereNote) : React.createElement(Original, properties),
  },
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (original) => (contract) => {
          const servers = (contract.servers ?? [{ url: "/" }]).map((server) =>
            server.url === "/" ? { ...server, url: prefix || "/" } : server,
          );
          return original({ ...contract, servers });
        },
      },
    },
  },
});
