# The image.
source "docker" "base" {
  image = "x"
}

build {
  provisioner "shell" {
    inline = ["true"]
  }
}
version = "1"
