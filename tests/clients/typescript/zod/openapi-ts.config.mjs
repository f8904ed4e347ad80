export default {
  input: "v1.json",
  output: { path: "generated", importFileExtension: ".js" },
  plugins: ["@hey-api/typescript", { name: "@hey-api/sdk", validator: "zod" }, "@hey-api/client-fetch", "zod"],
};
