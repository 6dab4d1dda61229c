# A module of the shop.
{
  config,
  lib,
  pkgs ? import <nixpkgs> { },
  ...
}@args:

with lib;

let
  # Adds two numbers.
  add = a: b: a + b;
  cfg = config.services.shop;
  inherit (lib) mkIf mkOption;
  version = "1.0";
  ports = [
    { from = 80; }
    443
  ];
  defaults = {
    port = 80;
    greet = name: "hello ${name}";
  };
in
rec {
  /* The package. */
  shop = pkgs.stdenv.mkDerivation rec {
    pname = "shop";
    buildPhase = ''
      make ${version} = { };
    '';
    meta = {
      description = "A shop";
    };
  };

  options.services.shop = {
    enable = mkEnableOption "the shop";
    port = mkOption {
      type = types.port;
      default = 80;
    };
  };

  "conf.d"."a.b" = { user, group ? "shop" }: {
    inherit user;
  };
  ${version} = 1;

  config = mkIf cfg.enable {
    systemd.services.shop = {
      script = "shop";
    };
    users.users.shop.isSystemUser = true;
  };
}
